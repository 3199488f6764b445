-- The MIME type of the last good content, for schedules that go by it.
ALTER TABLE pages ADD COLUMN mime_key INTEGER NOT NULL DEFAULT 0;
