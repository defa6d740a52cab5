-- Which migrations of its own each extension has had. keeps: the column, as table.column, with the ids of debates
-- that it needs; empty where it needs none. It holds also while the extension is left out.
-- 0008 to 0010 were the tables of experiments, which have numbers of their own now.
CREATE TABLE extension_schemas (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    keeps TEXT NOT NULL
) WITHOUT ROWID;
