-- What few projects set; the table of projects has no room for more.
CREATE TABLE project_settings (
    project_id BIGINT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    -- Finds in the log of a build how much of the code its tests reached.
    coverage_expression TEXT
);

-- The newest pipeline of each branch and tag that ever had one, and whether that is there by now.
CREATE TABLE ref_pipelines (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    tag BOOLEAN NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    pipeline_id BIGINT NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
    present BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, tag, reference)
);
CREATE INDEX ref_pipelines_present ON ref_pipelines (project_id, tag, pipeline_id) WHERE present;
CREATE INDEX ref_pipelines_of_pipeline ON ref_pipelines (pipeline_id);
INSERT INTO ref_pipelines (project_id, tag, reference, pipeline_id, present)
SELECT project_id, tag, reference, max(id), TRUE FROM pipelines GROUP BY project_id, tag, reference;

-- Lists of a group that has many issues read these in order.
CREATE INDEX issues_everywhere_by_created_at ON issues (created_at, id);
CREATE INDEX issues_everywhere_by_updated_at ON issues (updated_at, id);
