local b = import '../boards.libsonnet';

local live = b.of('holdfast_pending_changes', 'state!="quarantined"');
local drained = 'sum(%s)' % b.rate('holdfast_resolutions_total');

b.board('holdfast-queue', 'Offline queue', 'What waits, why, since when, and how long it will still take.', [
  b.row('Now', [
    b.stat(
      'Waiting',
      'Changes that will be tried again of their own accord.',
      'short',
      'sum(%s)' % live
    ) + b.limits(1, 8000),
    b.stat(
      'Of them deliverable',
      'Changes of open vaults whose upstream can be reached: nothing known stands in their way.',
      'short',
      'sum(%s)' % b.of('holdfast_pending_deliverable_changes')
    ) + b.plain,
    b.stat(
      'Oldest',
      'Age of the oldest pending change of all accounts, locked ones too.',
      's',
      'max(%s) or vector(0)' % b.age('holdfast_pending_oldest_timestamp_seconds')
    ) + b.limits(3600, 86400),
    b.stat(
      'Time left',
      'How long the queue takes to drain at the rate of the last minutes; nothing while nothing drains.',
      's',
      '(sum(%s) / (%s > 0)) or vector(0)' % [live, drained]
    ) + b.plain,
    b.stat(
      'Next try',
      'Until the soonest planned attempt of something that failed.',
      's',
      '(min(%s > 0) - time()) or vector(0)' % b.of('holdfast_retry_next_timestamp_seconds')
    ) + b.plain,
    b.stat(
      'Size',
      'How large all pending changes are, as they lie encrypted in the store.',
      'bytes',
      'sum(%s)' % b.of('holdfast_pending_bytes')
    ) + b.plain,
  ]),
  b.row('What waits', [
    b.graph(
      'By state',
      'Ready: waits for the network or its turn. In flight: on its way. Backing off: failed before. Quarantined: set aside for a person.',
      'short',
      [b.query('sum by (state) (%s)' % b.of('holdfast_pending_changes'), '{{state}}')]
    ) + b.stacked,
    b.graph(
      'By type',
      'Which kind of change waits; "other" is restoring, archiving and the like.',
      'short',
      [b.query('sum by (type) (%s)' % b.of('holdfast_pending_changes'), '{{type}}')]
    ) + b.stacked,
    b.table(
      'By type and state',
      'The same at this moment, as a table. Rows that are not there are empty.',
      'short',
      'sum by (type, state) (%s) > 0 or label_replace(sum(%s), "type", "all", "", "")' % [
        b.of('holdfast_pending_changes'),
        b.of('holdfast_pending_changes'),
      ]
    ),
    b.graph(
      'Age of the oldest',
      'Of all pending changes, of those that nothing known keeps from being sent, and of those that only a lock does.',
      's',
      [
        b.query('max(%s) or vector(0)' % b.age('holdfast_pending_oldest_timestamp_seconds'), 'of all'),
        b.query(
          'max(%s) or vector(0)' % b.age('holdfast_pending_deliverable_oldest_timestamp_seconds'),
          'of the deliverable'
        ),
        b.query('max(%s) or vector(0)' % b.age('holdfast_pending_locked_oldest_timestamp_seconds'), 'of locked vaults'),
      ]
    ) + b.wide,
    b.graph(
      'In and out',
      'Edits that came into the queue, and changes that left it resolved.',
      'ops',
      [
        b.query('sum(%s)' % b.rate('holdfast_edits_total', 'disposition="queued"'), 'queued'),
        b.query(drained, 'resolved'),
      ]
    ) + b.wide,
  ]),
  b.row('Backoff', [
    b.heatmap(
      'Waits that were chosen',
      'For how long failed attempts were put off. A cloud that climbs is an outage that lasts.',
      's',
      'holdfast_retry_backoff_seconds'
    ) + b.wide,
    b.graph(
      'Longest wait in force',
      'The longest wait that an account keeps after failures. It ends at once when the network returns.',
      's',
      [b.query('max by (instance) (%s)' % b.of('holdfast_retry_backoff_max_seconds'), '{{instance}}')]
    ) + b.limits(900) + b.drawn,
    b.graph(
      'Retries by cause',
      'Why attempts were put off: no answer, an error of the server, a limit of the server, a conflict, a sign-in.',
      'ops',
      [b.query('sum by (cause) (%s)' % b.rate('holdfast_retries_scheduled_total'), '{{cause}}')]
    ) + b.stacked,
    b.graph(
      'From acceptance to upstream',
      'The whole way of queued edits, the outage included.',
      's',
      [
        b.query(b.quantile(0.5, 'holdfast_edit_propagation_seconds'), 'p50'),
        b.query(b.quantile(0.99, 'holdfast_edit_propagation_seconds'), 'p99'),
      ]
    ),
    b.graph(
      'Time left',
      'Waiting changes divided by the rate at which they leave. Absent while nothing leaves.',
      's',
      [b.query('(sum(%s) / (%s > 0)) or vector(0)' % [live, drained], 'time left')]
    ),
  ]),
])
