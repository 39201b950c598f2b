UPDATE candidates SET concept = 3
UPDATE candidates SET concept = -1
UPDATE candidates SET concept = 0.5
UPDATE candidates SET count = -1
UPDATE candidates SET count = 9e999
UPDATE candidates SET count = 'x'
UPDATE candidates SET upper = x'00'
UPDATE candidates SET mixed = -2
UPDATE words SET titles = 0
UPDATE words SET titles = 'many'
UPDATE concepts SET title = x'ff'
UPDATE concepts SET text = x'00'
UPDATE concepts SET qid = 'Q1'
UPDATE concepts SET qid = -7
UPDATE concepts SET number = 7 WHERE number = 1
UPDATE concepts SET id = cast(x'ff' AS TEXT) WHERE number = 1
DELETE FROM concepts WHERE number = 1
DELETE FROM search_data
INSERT INTO search(rowid, title, aliases, body) VALUES (999, 'Jaguar', '', '')
CREATE TRIGGER x AFTER INSERT ON concepts BEGIN SELECT 1; END
CREATE VIEW x AS SELECT 1
CREATE TABLE mine(x)
ALTER TABLE candidates ADD COLUMN mine
DROP TABLE words
PRAGMA user_version = 99
PRAGMA application_id = 99
