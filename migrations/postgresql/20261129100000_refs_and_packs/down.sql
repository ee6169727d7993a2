DROP TABLE condemned_packs;
DROP TABLE packs;
DROP TABLE refs;
DROP TABLE repositories;
