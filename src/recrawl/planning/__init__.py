"""What a collection knows of its pages, and what it spends its fetches on."""
