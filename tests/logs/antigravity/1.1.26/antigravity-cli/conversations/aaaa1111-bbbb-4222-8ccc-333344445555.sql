BEGIN TRANSACTION;
CREATE TABLE steps(idx INTEGER PRIMARY KEY, step_type INTEGER, status INTEGER, step_payload BLOB);
INSERT INTO "steps" VALUES(0,14,3,X'9A0111120F4455505F555345525F706274657874');
CREATE TABLE trajectory_meta(trajectory_id TEXT, cascade_id TEXT, trajectory_type INTEGER, source INTEGER);
CREATE TABLE trajectory_metadata_blob(id TEXT PRIMARY KEY, data BLOB);
COMMIT;
