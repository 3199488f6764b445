"""Other systems' records and files, read and written as theirs."""
