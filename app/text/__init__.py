"""What a text is made of: scripts, words, sentences, code, dates, requests to remember, and how much two texts share.

Everything here is pure, reads text from outside in linear time, and knows nothing of messages or memories. One module
each, so that a language is taught in one place:

============== ======================================== ==============================================================
Module         Answers                                  Languages
============== ======================================== ==============================================================
``scripts``    which script a character is of           all; Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer named
``words``      the words of a text                      all; stop words English, Chinese; plural endings English
``sentences``  where a sentence or clause ends          all that end one by ``.!?`` or ``。！？``
``markdown``   what is code or quotation                any: marks, no words
``remember``   whether one asks to remember something   English, Chinese
``dates``      moments (ISO 8601), days that are named  ISO 8601; words for days English, Chinese
``ends``       when something is over by its own words  those of ``end_words``, a table for each: English, Chinese,
                                                        Dutch, French, German, Italian, Japanese, Portuguese, Russian,
                                                        Spanish
``similarity`` how many telling words two texts share   all, by ``words``; no list of stop words
``mmr``        an order that is relevant and varied     any: numbers and words
``log_odds``   probabilities moved by evidence          none
============== ======================================== ==============================================================

Scripts are ranges for the standard ``re`` module. The ``regex`` library knows ``\\p{Han}`` by itself, but it took twice
to six times as long to cut texts into words, and 0.1 s to import; tests compare our ranges with its.
"""
