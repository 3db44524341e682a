-- A week of real earthquakes: from JSON lines into Bigtable, and three ways of reading them back.
--
--   millstream run examples/earthquakes.sql --define DATA=examples/data
--
-- The row key is <network>#<id>, so that the earthquakes of one network lie side by side.

CREATE TABLE feed (
  id STRING NOT NULL,
  `time` TIMESTAMP(3),
  updated TIMESTAMP(3),
  mag DOUBLE,
  magType STRING,
  place STRING,
  net STRING NOT NULL,
  longitude DOUBLE,
  latitude DOUBLE,
  depth DOUBLE,
  status STRING,
  tsunami INT,
  sig INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/earthquakes.jsonl',
  'format' = 'json'
);

CREATE TABLE quakes (
  rowkey STRING NOT NULL,
  event ROW<`time` TIMESTAMP(3), mag DOUBLE, mag_type STRING, sig INT, tsunami INT, status STRING>,
  location ROW<place STRING, longitude DOUBLE, latitude DOUBLE, depth DOUBLE>,
  PRIMARY KEY (rowkey) NOT ENFORCED
) WITH (
  'connector' = 'bigtable',
  'project' = 'demo',
  'instance' = 'local',
  'table' = 'quakes',
  'sink.create-disposition' = 'create-if-needed',
  'sink.table-create.gc-rule.max-versions' = '1'
);

INSERT INTO quakes
SELECT
  net || '#' || id,
  ROW(`time`, mag, magType, sig, tsunami, status),
  ROW(place, longitude, latitude, depth)
FROM feed;

-- 1. One network: the prefix becomes a range of row keys that the store scans.
SELECT rowkey, quakes.event.mag, quakes.location.place
FROM quakes /*+ OPTIONS('scan.row-prefix' = 'hv#') */
WHERE quakes.event.mag >= 2.5;

-- 2. The strong ones, with their place formatted.
SELECT
  rowkey,
  'M ' || CAST(CAST(quakes.event.mag AS DECIMAL(3, 1)) AS STRING) || ', ' ||
    UPPER(SUBSTRING(quakes.location.place FROM 1 FOR 1)) ||
    SUBSTRING(quakes.location.place FROM 2) AS what,
  quakes.event.`time` AS at_utc
FROM quakes
WHERE quakes.event.mag >= 5.8;

-- 3. How many there are: only row keys leave the store.
SELECT COUNT(*) AS quakes FROM quakes;
