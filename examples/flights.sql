-- Airports and flights from CSV into two Bigtable tables, and back.
--
--   millstream run examples/flights.sql --define DATA=examples/data
--
-- Flights have no key of their own: the row key joins date, route and distance.

CREATE TABLE airport_file (
  iata STRING NOT NULL,
  name STRING,
  city STRING,
  state STRING,
  country STRING,
  latitude DOUBLE,
  longitude DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/airports.csv',
  'format' = 'csv',
  'csv.ignore-first-line' = 'true'
);

CREATE TABLE flight_file (
  departure STRING NOT NULL,
  delay INT,
  distance INT,
  origin STRING NOT NULL,
  destination STRING NOT NULL
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/flights-20k.csv',
  'format' = 'csv',
  'csv.ignore-first-line' = 'true'
);

CREATE TABLE airports (
  iata STRING NOT NULL,
  about ROW<name STRING, city STRING, state STRING, country STRING>,
  place ROW<latitude DOUBLE, longitude DOUBLE>,
  PRIMARY KEY (iata) NOT ENFORCED
) WITH (
  'connector' = 'bigtable',
  'project' = 'demo',
  'instance' = 'local',
  'table' = 'airports',
  'sink.create-disposition' = 'create-if-needed',
  'sink.table-create.gc-rule.max-versions' = '1'
);

CREATE TABLE flights (
  rowkey STRING NOT NULL,
  flight ROW<departure TIMESTAMP(3), origin STRING, destination STRING, distance INT, delay INT>,
  PRIMARY KEY (rowkey) NOT ENFORCED
) WITH (
  'connector' = 'bigtable',
  'project' = 'demo',
  'instance' = 'local',
  'table' = 'flights',
  'sink.create-disposition' = 'create-if-needed',
  'sink.table-create.gc-rule.max-versions' = '1'
);

EXECUTE STATEMENT SET BEGIN
  INSERT INTO airports
  SELECT iata, ROW(name, city, state, country), ROW(latitude, longitude) FROM airport_file;
  INSERT INTO flights
  SELECT
    origin || '>' || destination || '#' || departure || '#' || CAST(delay AS STRING),
    ROW(TO_TIMESTAMP(departure, 'yyyy/MM/dd HH:mm'), origin, destination, distance, delay)
  FROM flight_file;
END;

SELECT COUNT(*) AS airports FROM airports;

SELECT COUNT(*) AS flights, MAX(flights.flight.delay) AS worst, AVG(flights.flight.distance) AS miles
FROM flights;

-- One route, by a range of row keys.
SELECT flights.flight.departure, flights.flight.delay
FROM flights
WHERE rowkey >= 'SFO>JFK#' AND rowkey < 'SFO>JFK$' AND flights.flight.delay > 20;

SELECT iata, airports.about.name FROM airports WHERE iata = 'SFO';
