-- Keys by which a session is found: the id of a response, the digest of the last text, the id in the system
-- from which it was imported.
CREATE TABLE marks (
    mark TEXT NOT NULL,
    debate INTEGER NOT NULL REFERENCES debates (place) ON DELETE CASCADE,
    PRIMARY KEY (mark, debate)
) WITHOUT ROWID;

CREATE INDEX marks_by_debate ON marks (debate);
