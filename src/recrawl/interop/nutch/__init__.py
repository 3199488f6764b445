"""Records of Apache Nutch: what a CrawlDb holds, and how its update reduces them."""
