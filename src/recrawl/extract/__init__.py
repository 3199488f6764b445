"""From bytes to text, title and links."""
