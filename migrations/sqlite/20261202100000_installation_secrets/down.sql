DROP TABLE installation_secrets;
