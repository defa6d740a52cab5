-- Which migrations of its own each extension has had. keeps: the column, as table.column, with the ids of debates
-- that it needs; empty where it needs none. It holds also while the extension is left out.
-- 0005 to 0007 were the tables of experiments, which have numbers of their own now.
CREATE TABLE extension_schemas (
    name text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL,
    keeps text COLLATE "C" NOT NULL
);
