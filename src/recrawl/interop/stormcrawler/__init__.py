"""Records and settings of Apache StormCrawler: metadata, schedulers, status updater, signature."""
