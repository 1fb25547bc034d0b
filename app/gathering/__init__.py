"""What is imported, before anything of it is stored: fetched from the web, and read in a process of its own."""
