-- What visits taught of a page, and the group whose pages may be edited together.
-- SQL cannot hash: the next visit of a page fills in the key of its group.
ALTER TABLE pages ADD COLUMN group_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN rate_shape REAL NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN rate_exposure REAL NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN bulk_shape REAL NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN bulk_exposure REAL NOT NULL DEFAULT 0;
