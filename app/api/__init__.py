"""The HTTP shell: parse, call the engine, render."""
