"""From a manifest and a call to a program: pure values, no GPU, no files."""
