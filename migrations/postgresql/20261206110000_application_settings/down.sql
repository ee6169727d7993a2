DROP TABLE application_settings;
