-- Which layers of a page moved at its last change.
ALTER TABLE pages ADD COLUMN moved_layers INTEGER NOT NULL DEFAULT 0;
