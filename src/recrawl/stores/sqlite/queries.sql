-- Every statement on the data.  A name, one line of purpose, the statement.
-- {page_columns} and {planned_columns} stand for the statements of these names; rows.py reads
-- them in this order.

-- name: page_columns
-- Columns of a page, in the order in which rows.py reads them.
p.page_key, p.host_key, p.status, p.announced, p.next_fetch_at, p.interval, p.fixed_interval,
p.importance, p.retries, p.n_visits, p.n_changes, p.fetched_at, p.modified_at, p.changed_at,
p.redirect_key, p.signature, p.signature_scheme, p.url, p.etag, p.last_modified, p.redirect_to,
p.title, p.reason, p.added_at, p.depth, p.content_digest, p.mime_key, p.moved_layers,
p.group_key, p.rate_shape, p.rate_exposure, p.bulk_shape, p.bulk_exposure, p.surprise,
p.n_signals, coalesce(p.checked_at, iif(p.signature_scheme <> 0, p.fetched_at, NULL));

-- name: planned_columns
-- Columns of a page that a plan is made of, in the order in which rows.py reads them.
p.page_key, p.host_key, p.group_key, p.status, p.next_fetch_at, p.fixed_interval, p.importance,
p.fetched_at, p.n_visits, p.rate_shape, p.rate_exposure, p.bulk_shape, p.bulk_exposure,
p.surprise, p.n_signals, coalesce(p.checked_at, iif(p.signature_scheme <> 0, p.fetched_at, NULL));

-- name: get_page
-- One page.
SELECT {page_columns} FROM pages AS p WHERE p.page_key = :page_key;

-- name: get_urls
-- Keys and URLs of the pages that are there, out of a JSON list of keys.
SELECT p.page_key, p.url, p.host_key
FROM json_each(:page_keys) AS k CROSS JOIN pages AS p ON p.page_key = k.value;

-- name: insert_page
-- Add a page that is not there.
INSERT INTO pages (
    page_key, host_key, status, announced, next_fetch_at, interval, fixed_interval, importance,
    retries, n_visits, n_changes, fetched_at, modified_at, changed_at, redirect_key, signature,
    signature_scheme, url, etag, last_modified, redirect_to, title, reason, added_at, depth,
    content_digest, mime_key, moved_layers, group_key, rate_shape, rate_exposure, bulk_shape,
    bulk_exposure, surprise, n_signals, checked_at
) VALUES (
    :page_key, :host_key, :status, :announced, :next_fetch_at, :interval, :fixed_interval,
    :importance, :retries, :n_visits, :n_changes, :fetched_at, :modified_at, :changed_at,
    :redirect_key, :signature, :signature_scheme, :url, :etag, :last_modified, :redirect_to,
    :title, :reason, :added_at, :depth, :content_digest, :mime_key, :moved_layers,
    :group_key, :rate_shape, :rate_exposure, :bulk_shape, :bulk_exposure, :surprise, :n_signals,
    :checked_at
);

-- name: update_page
-- Overwrite a page; its key, URL and host stay.
UPDATE pages SET
    status = :status, announced = :announced, next_fetch_at = :next_fetch_at,
    interval = :interval, fixed_interval = :fixed_interval, importance = :importance,
    retries = :retries, n_visits = :n_visits, n_changes = :n_changes, fetched_at = :fetched_at,
    modified_at = :modified_at, changed_at = :changed_at, redirect_key = :redirect_key,
    signature = :signature, signature_scheme = :signature_scheme, etag = :etag,
    last_modified = :last_modified, redirect_to = :redirect_to, title = :title,
    reason = :reason, added_at = :added_at, depth = :depth, content_digest = :content_digest,
    mime_key = :mime_key, moved_layers = :moved_layers, group_key = :group_key,
    rate_shape = :rate_shape, rate_exposure = :rate_exposure, bulk_shape = :bulk_shape,
    bulk_exposure = :bulk_exposure, surprise = :surprise, n_signals = :n_signals,
    checked_at = :checked_at
WHERE page_key = :page_key;

-- name: scan_pages
-- Pages in the order of their keys, from a key on.
SELECT {page_columns} FROM pages AS p
WHERE p.page_key >= :first ORDER BY p.page_key LIMIT :limit;

-- name: scan_planned
-- What a plan is made of, of pages in the order of their keys, from a key on.
SELECT {planned_columns} FROM pages AS p
WHERE p.page_key >= :first ORDER BY p.page_key LIMIT :limit;

-- name: grouped_pages
-- What a plan is made of, of the pages of groups out of a JSON list of keys.
SELECT {planned_columns}
FROM json_each(:group_keys) AS k
CROSS JOIN pages AS p ON p.group_key = k.value AND p.group_key <> 0
ORDER BY p.page_key;

-- name: move_page
-- Let a page be due at another time, unless it is not to be fetched again.
UPDATE pages SET next_fetch_at = :next_fetch_at
WHERE page_key = :page_key AND next_fetch_at IS NOT NULL;

-- name: add_signal
-- Count one more signal of a change.
UPDATE pages SET n_signals = min(n_signals + 1, :most) WHERE page_key = :page_key;

-- name: due_pages
-- Due pages of all hosts, earliest first.
SELECT {page_columns}
FROM (
    SELECT q.page_key, q.next_fetch_at
    FROM hosts AS h
    CROSS JOIN pages AS q ON q.host_key = h.host_key AND q.next_fetch_at <= :now
    WHERE h.next_due_at <= :now
    ORDER BY q.next_fetch_at, q.page_key
    LIMIT :limit
) AS d
CROSS JOIN pages AS p ON p.page_key = d.page_key
ORDER BY d.next_fetch_at, d.page_key;

-- name: get_hosts
-- Host rows out of a JSON list of keys.
SELECT h.host_key, h.host, h.ready_at, h.crawl_delay, h.n_errors
FROM json_each(:host_keys) AS k CROSS JOIN hosts AS h ON h.host_key = k.value;

-- name: add_host
-- Make a page's host unless it is there, and take over an earlier due time.
INSERT INTO hosts (host_key, host, n_errors, next_due_at) VALUES (:host_key, :host, 0, :due_at)
ON CONFLICT (host_key) DO UPDATE
SET next_due_at = min(coalesce(next_due_at, excluded.next_due_at), excluded.next_due_at)
WHERE excluded.next_due_at IS NOT NULL;

-- name: save_host
-- Overwrite a host that is there; its due time stays.
UPDATE hosts SET host = :host, ready_at = :ready_at, crawl_delay = :crawl_delay,
    n_errors = :n_errors
WHERE host_key = :host_key;

-- name: commit_host
-- Write a host after visits, with the due time that its pages have now.
INSERT INTO hosts (host_key, host, ready_at, crawl_delay, n_errors, next_due_at)
VALUES (
    :host_key, :host, :ready_at, :crawl_delay, :n_errors,
    (SELECT min(next_fetch_at) FROM pages
     WHERE host_key = :host_key AND next_fetch_at IS NOT NULL)
)
ON CONFLICT (host_key) DO UPDATE
SET host = excluded.host, ready_at = excluded.ready_at, crawl_delay = excluded.crawl_delay,
    n_errors = excluded.n_errors, next_due_at = excluded.next_due_at;

-- name: refresh_host
-- Set a host's due time from its pages.
UPDATE hosts SET next_due_at = (
    SELECT min(next_fetch_at) FROM pages
    WHERE host_key = :host_key AND next_fetch_at IS NOT NULL
)
WHERE host_key = :host_key;

-- name: end_leases
-- Delete leases that ended.
DELETE FROM leases WHERE until <= :now;

-- name: lease_candidates
-- The first due pages of each host that may be asked, hosts with the earliest due page first.
-- All leases of a host have one owner: a host held by another owner counts as full.
SELECT h.host_key, h.next_due_at,
    (SELECT count(*) FROM leases AS l WHERE l.host_key = h.host_key), {page_columns}
FROM hosts AS h CROSS JOIN pages AS p
WHERE h.next_due_at <= :due_by
    AND (h.ready_at IS NULL OR h.ready_at <= :now)
    AND (
        SELECT iif(l.owner <> :owner, :per_host, count(*))
        FROM leases AS l WHERE l.host_key = h.host_key
    ) < :per_host
    AND p.page_key IN (
        SELECT q.page_key FROM pages AS q
        WHERE q.host_key = h.host_key AND q.next_fetch_at <= :due_by
            AND NOT EXISTS (
                SELECT 1 FROM leases AS l
                WHERE l.host_key = q.host_key AND l.page_key = q.page_key
            )
        ORDER BY q.next_fetch_at, q.page_key
        LIMIT :per_host
    )
ORDER BY h.next_due_at, h.host_key;

-- name: insert_lease
-- Lease a page.
INSERT INTO leases (host_key, page_key, owner, until)
VALUES (:host_key, :page_key, :owner, :until);

-- name: delete_lease
-- Give a page back, if the owner holds it.
DELETE FROM leases
WHERE host_key = (SELECT host_key FROM pages WHERE page_key = :page_key)
    AND page_key = :page_key AND owner = :owner;

-- name: end_lease
-- End the lease of a page whose host is known.
DELETE FROM leases WHERE host_key = :host_key AND page_key = :page_key;

-- name: cancel_lease
-- End the lease of a page, whoever holds it.
DELETE FROM leases
WHERE host_key = (SELECT host_key FROM pages WHERE page_key = :page_key)
    AND page_key = :page_key;

-- name: check_commits
-- What commits must know of their pages: URL, host, lease, whether the visit is there.
-- One row, in order, for each [page_key, fetched_at] of a JSON list.
SELECT p.url, p.host_key, l.owner, l.until,
    EXISTS (
        SELECT 1 FROM visits AS v
        WHERE v.page_key = p.page_key AND v.fetched_at = json_extract(k.value, '$[1]')
    )
FROM json_each(:visits) AS k
LEFT JOIN pages AS p ON p.page_key = json_extract(k.value, '$[0]')
LEFT JOIN leases AS l ON l.host_key = p.host_key AND l.page_key = p.page_key
ORDER BY k.key;

-- name: next_due_hosts
-- Hosts by due time, with what they wait for: their ready time and the first end of a lease.
SELECT h.next_due_at, h.ready_at,
    (SELECT min(l.until) FROM leases AS l WHERE l.host_key = h.host_key AND l.until > :now)
FROM hosts AS h
WHERE h.next_due_at IS NOT NULL
ORDER BY h.next_due_at, h.host_key;

-- name: insert_visit
-- Keep a visit.
INSERT INTO visits (
    page_key, fetched_at, outcome, observation, status_code, reason, elapsed, n_bytes,
    modified_at, signature, signature_scheme, hops
) VALUES (
    :page_key, :fetched_at, :outcome, :observation, :status_code, :reason, :elapsed, :n_bytes,
    :modified_at, :signature, :signature_scheme, :hops
);

-- name: prune_visits
-- Delete the visits of a page beyond the newest ones.
DELETE FROM visits
WHERE page_key = :page_key AND fetched_at < (
    SELECT fetched_at FROM visits
    WHERE page_key = :page_key ORDER BY fetched_at DESC LIMIT 1 OFFSET :n_kept - 1
);

-- name: get_visits
-- Visits of a page, newest first.
SELECT page_key, fetched_at, outcome, observation, status_code, reason, elapsed, n_bytes,
    modified_at, signature, signature_scheme, hops
FROM visits WHERE page_key = :page_key ORDER BY fetched_at DESC;

-- name: insert_text
-- Keep a text version.
INSERT INTO texts (page_key, fetched_at, signature, body)
VALUES (:page_key, :fetched_at, :signature, :body)
ON CONFLICT (page_key, fetched_at) DO UPDATE
SET signature = excluded.signature, body = excluded.body;

-- name: prune_texts
-- Delete the texts of a page beyond the newest ones.
DELETE FROM texts
WHERE page_key = :page_key AND fetched_at < (
    SELECT fetched_at FROM texts
    WHERE page_key = :page_key ORDER BY fetched_at DESC LIMIT 1 OFFSET :n_kept - 1
);

-- name: get_texts
-- Text versions of a page, newest first.
SELECT page_key, fetched_at, signature, body
FROM texts WHERE page_key = :page_key ORDER BY fetched_at DESC;

-- name: insert_change
-- Append an event to the change feed.
INSERT INTO changes (page_key, url, kind, at, old_signature, new_signature, redirect_to)
VALUES (:page_key, :url, :kind, :at, :old_signature, :new_signature, :redirect_to);

-- name: get_changes
-- Events after a position of the change feed.
SELECT sequence, page_key, url, kind, at, old_signature, new_signature, redirect_to
FROM changes WHERE sequence > :after ORDER BY sequence LIMIT :limit;

-- name: get_robots
-- The robots.txt of an origin.
SELECT origin, fetched_at, expires_at, status_code, body FROM robots WHERE origin = :origin;

-- name: save_robots
-- Insert or overwrite robots.txt of an origin.
INSERT INTO robots (origin, fetched_at, expires_at, status_code, body)
VALUES (:origin, :fetched_at, :expires_at, :status_code, :body)
ON CONFLICT (origin) DO UPDATE
SET fetched_at = excluded.fetched_at, expires_at = excluded.expires_at,
    status_code = excluded.status_code, body = excluded.body;

-- name: get_learned
-- What is known of hosts and groups out of a JSON list of keys.
SELECT l.key, l.state FROM json_each(:keys) AS k CROSS JOIN learned AS l ON l.key = k.value;

-- name: all_learned
-- Everything known of hosts and groups, from a key on.
SELECT key, state FROM learned WHERE key >= :first ORDER BY key LIMIT :limit;

-- name: save_learned
-- Insert or overwrite what is known of a host or group.
INSERT INTO learned (key, state) VALUES (:key, :state)
ON CONFLICT (key) DO UPDATE SET state = excluded.state;

-- name: count_rows
-- Figures of the whole collection that are counts or instants.
SELECT
    (SELECT count(*) FROM hosts),
    (SELECT count(*) FROM hosts AS h
     CROSS JOIN pages AS p ON p.host_key = h.host_key AND p.next_fetch_at <= :now
     WHERE h.next_due_at <= :now),
    (SELECT count(*) FROM leases WHERE until > :now),
    (SELECT count(*) FROM visits),
    (SELECT count(*) FROM changes),
    (SELECT next_due_at FROM hosts
     WHERE next_due_at IS NOT NULL ORDER BY next_due_at LIMIT 1);

-- name: count_statuses
-- Number of pages of each status.
SELECT status, count(*) FROM pages GROUP BY status;

-- name: get_meta
-- A named value.
SELECT value FROM meta WHERE name = :name;

-- name: set_meta
-- Keep a named value.
INSERT INTO meta (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;
