DROP TABLE deliveries;
DROP TABLE hook_lanes;
DROP TABLE hook_payloads;
