-- The schema of a new store: what all migrations together give.
--
-- Instants are milliseconds since 1970 UTC, intervals seconds.  NULL means unknown, but for
-- pages.next_fetch_at and hosts.next_due_at, where it means never.

-- One row a page; the key is the 64-bit hash of the URL.
CREATE TABLE pages (
    page_key INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    host_key INTEGER NOT NULL,
    status INTEGER NOT NULL,
    announced INTEGER NOT NULL,
    next_fetch_at INTEGER,
    interval REAL,
    fixed_interval REAL,
    importance REAL NOT NULL,
    retries INTEGER NOT NULL,
    n_visits INTEGER NOT NULL,
    n_changes INTEGER NOT NULL,
    fetched_at INTEGER,
    modified_at INTEGER,
    changed_at INTEGER,
    redirect_key INTEGER NOT NULL,
    signature BLOB,
    signature_scheme INTEGER NOT NULL,
    etag BLOB,
    last_modified BLOB,
    redirect_to TEXT,
    title TEXT,
    reason TEXT,
    added_at INTEGER,
    depth INTEGER NOT NULL,
    content_digest BLOB,
    mime_key INTEGER NOT NULL DEFAULT 0,
    moved_layers INTEGER NOT NULL DEFAULT 0,
    group_key INTEGER NOT NULL DEFAULT 0,
    rate_shape REAL NOT NULL DEFAULT 0,
    rate_exposure REAL NOT NULL DEFAULT 0,
    bulk_shape REAL NOT NULL DEFAULT 0,
    bulk_exposure REAL NOT NULL DEFAULT 0,
    surprise REAL NOT NULL DEFAULT 0,
    n_signals INTEGER NOT NULL DEFAULT 0,
    checked_at INTEGER
) STRICT;

-- The queue of each host: its pages by due time.
CREATE INDEX pages_by_due ON pages (host_key, next_fetch_at) WHERE next_fetch_at IS NOT NULL;

-- The pages of each group, for those whose turn moves when one of them was seen to change.
CREATE INDEX pages_by_group ON pages (group_key) WHERE group_key <> 0;

-- One row a host; next_due_at is the least next_fetch_at of its pages, leased or not.
CREATE TABLE hosts (
    host_key INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    ready_at INTEGER,
    crawl_delay REAL,
    n_errors INTEGER NOT NULL,
    next_due_at INTEGER
) STRICT;

-- The queue of hosts; ready_at is here so that hosts that must wait are passed over quickly.
CREATE INDEX hosts_by_due ON hosts (next_due_at, host_key, ready_at)
WHERE next_due_at IS NOT NULL;

-- Pages that are out with a worker, by host: whoever asks for a page's lease knows its host.
CREATE TABLE leases (
    host_key INTEGER NOT NULL,
    page_key INTEGER NOT NULL,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (host_key, page_key)
) STRICT, WITHOUT ROWID;

-- The newest visits of each page.
CREATE TABLE visits (
    page_key INTEGER NOT NULL,
    fetched_at INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    observation INTEGER NOT NULL,
    status_code INTEGER,
    reason TEXT,
    elapsed REAL,
    n_bytes INTEGER NOT NULL,
    modified_at INTEGER,
    signature BLOB,
    signature_scheme INTEGER NOT NULL,
    hops TEXT,
    PRIMARY KEY (page_key, fetched_at)
) STRICT, WITHOUT ROWID;

-- The change feed; AUTOINCREMENT so that a number is not given twice when old events are deleted.
CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    page_key INTEGER NOT NULL,
    url TEXT NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    old_signature BLOB,
    new_signature BLOB,
    redirect_to TEXT
) STRICT;

-- The newest texts of each page, compressed by zstd.
CREATE TABLE texts (
    page_key INTEGER NOT NULL,
    fetched_at INTEGER NOT NULL,
    signature BLOB NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (page_key, fetched_at)
) STRICT;

-- robots.txt of each origin.
CREATE TABLE robots (
    origin TEXT NOT NULL UNIQUE,
    fetched_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    status_code INTEGER,
    body BLOB NOT NULL
) STRICT;

-- What is known of hosts and of groups, by their keys; planning reads the bytes.
CREATE TABLE learned (
    key INTEGER PRIMARY KEY,
    state BLOB NOT NULL
) STRICT;

-- Named values beside the pages.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
