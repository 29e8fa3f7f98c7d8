local b = import '../boards.libsonnet';

b.board('holdfast-conflicts', 'Conflicts and backups', 'Where two sides had changed the same item: who won, and what was kept of the other.', [
  b.row('Now', [
    b.stat(
      'Conflicts, last day',
      'Conflicts that were decided within a day. Each leaves a backup copy, or restores what was about to be deleted.',
      'short',
      'sum(increase(%s[1d]))' % b.of('holdfast_conflicts_total')
    ) + b.plain + b.counted,
    b.stat(
      'Backup copies, last day',
      'Copies made within a day of what gave way.',
      'short',
      'sum(increase(%s[1d]))' % b.of('holdfast_backups_total', 'outcome="created"')
    ) + b.plain + b.counted,
    b.stat(
      'Copies that failed',
      'Backup copies that could not be made within a day. The change they belong to waits until one can be.',
      'short',
      'sum(increase(%s[1d]))' % b.of('holdfast_backups_total', 'outcome="failed"')
    ) + b.limits(1, 20),
    b.stat(
      'Share in conflict',
      'Of the changes that were resolved within a day, how many met another change.',
      'percentunit',
      '(sum(increase(%s[1d])) / (sum(increase(%s[1d])) > 0)) or vector(0)' % [
        b.of('holdfast_conflicts_total'),
        b.of('holdfast_resolutions_total'),
      ]
    ) + b.limits(0.2, 0.5),
    b.stat(
      'Discarded by people',
      'Pending changes that somebody gave up within a day.',
      'short',
      'sum(increase(%s[1d]))' % b.of('holdfast_resolutions_total', 'outcome="discarded"')
    ) + b.plain,
    b.stat(
      'Shrunk answers refused',
      'Sync answers within a day that would have emptied a vault or set it back, and were not taken over.',
      'short',
      'sum(increase(%s[1d]))' % b.of('holdfast_sync_aborts_total', 'reason=~"shrink|regression"')
    ) + b.limits(1),
  ]),
  b.row('Conflicts', [
    b.graph(
      'By kind',
      'Hard: both sides changed the content. Soft: too many password changes for the history. Delete: one side deleted.',
      'ops',
      [b.query('sum by (kind) (%s)' % b.rate('holdfast_conflicts_total'), '{{kind}}')]
    ) + b.stacked,
    b.graph(
      'By winner',
      'Which side stayed in the item itself. The other is in a backup copy.',
      'ops',
      [b.query('sum by (winner) (%s)' % b.rate('holdfast_conflicts_total'), '{{winner}}')]
    ) + b.stacked,
    b.graph(
      'Backup copies',
      'Copies by reason and outcome, and the files that they were given. Reused ones were there from an attempt that was cut short.',
      'ops',
      [
        b.query('sum by (reason, outcome) (%s)' % b.rate('holdfast_backups_total'), '{{reason}} {{outcome}}'),
        b.query('sum by (outcome) (%s)' % b.rate('holdfast_backup_files_total'), 'files {{outcome}}'),
      ]
    ) + b.stacked,
  ]),
  b.row('Resolutions', [
    b.graph(
      'By outcome',
      'What became of pending changes. The table of all cases is in the document on conflicts.',
      'ops',
      [b.query('sum by (outcome) (%s)' % b.rate('holdfast_resolutions_total'), '{{outcome}}')]
    ) + b.stacked + b.wide,
    b.graph(
      'By type of change',
      'Which kinds of change were resolved.',
      'ops',
      [b.query('sum by (type) (%s)' % b.rate('holdfast_resolutions_total'), '{{type}}')]
    ) + b.stacked + b.wide,
    b.table(
      'Last day',
      'Resolutions of the last day by type and outcome; rows that are not there did not occur.',
      'short',
      'sum by (type, outcome) (increase(%s[1d])) > 0 or label_replace(sum(increase(%s[1d])), "type", "all", "", "")' % [
        b.of('holdfast_resolutions_total'),
        b.of('holdfast_resolutions_total'),
      ]
    ) + b.whole + b.counted,
  ]),
])
