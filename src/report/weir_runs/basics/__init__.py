"""What every room needs and what is not about weir: numbers with units, messages, files, programs."""
