// Input for promtool: the proofs of the alerts, and the queries of all panels with what is to come of
// them. The series that they are asked of, and the values of the boards' variables, come from check.sh.
local boards = import 'all.libsonnet';
local rules = (import 'rules.libsonnet')();

local queries = [
  target.expr
  for board in std.objectFields(boards)
  for panel in boards[board].panels
  if std.objectHas(panel, 'targets')
  for target in panel.targets
] + [
  annotation.expr
  for board in std.objectFields(boards)
  for annotation in boards[board].annotations.list
  if std.objectHas(annotation, 'expr')
] + [
  rule.expr
  for rule in rules.recordings
];

rules.tests('rules.json') + {
  'rules.json': rules.rules,
  'queries.json': [
    {
      // What is not a number is no answer.
      expr: 'count((' + query + ') > -Inf) > bool 0',
      eval_time: '60m',
      exp_samples: [{ labels: '{}', value: 1 }],
    }
    for query in queries
  ],
}
