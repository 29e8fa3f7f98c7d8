local b = import '../boards.libsonnet';

b.board('holdfast-mesh', 'Mesh', 'The services of the host and the channels between them.', [
  b.row('Now', [
    b.stat(
      'Most silent service',
      'Age of the oldest heartbeat. Each service is asked every five seconds through its own channel.',
      's',
      'max(%s)' % b.age('holdfast_heartbeat_timestamp_seconds')
    ) + b.limits(15, 60),
    b.stat(
      'Fullest channel',
      'Share of the fullest channel that is in use. A full one makes its senders wait.',
      'percentunit',
      'max(%s / %s)' % [b.of('holdfast_channel_depth'), b.of('holdfast_channel_capacity')]
    ) + b.limits(0.5, 0.9),
    b.stat(
      'Slowest channel',
      'The 99th percentile of the wait in the slowest channel.',
      's',
      'max(%s)' % b.quantile(0.99, 'holdfast_channel_wait_seconds', 'channel')
    ) + b.limits(0.1, 1),
    b.stat(
      'Standstills, last day',
      'How often changes waited for no known reason, and syncing was begun anew.',
      'short',
      'sum(increase(%s[1d]))' % b.of('holdfast_sync_standstills_total')
    ) + b.limits(1) + b.counted,
    b.stat(
      'Syncs that failed, last day',
      'Syncs that ended without taking anything over, other than those that found changes waiting.',
      'short',
      'sum(increase(%s[1d]))' % b.of('holdfast_sync_runs_total', 'outcome="failed"')
    ) + b.plain + b.counted,
    b.stat(
      'Messages',
      'Messages that were read in all channels.',
      'ops',
      'sum(%s)' % b.rate('holdfast_channel_messages_total')
    ) + b.plain,
  ]),
  b.row('Channels', [
    b.graph(
      'Depth',
      'Messages that wait to be read. Channels of the same name (each account has a resolver of its own) are shown together.',
      'short',
      [b.query('sum by (channel) (%s)' % b.of('holdfast_channel_depth'), '{{channel}}')]
    ),
    b.graph(
      'How full',
      'Depth by capacity. At 1 senders wait.',
      'percentunit',
      [b.query(
        'sum by (channel) (%s) / sum by (channel) (%s)' % [b.of('holdfast_channel_depth'), b.of('holdfast_channel_capacity')],
        '{{channel}}'
      )]
    ) + b.share,
    b.graph(
      'Throughput',
      'Messages that were read.',
      'ops',
      [b.query('sum by (channel) (%s)' % b.rate('holdfast_channel_messages_total'), '{{channel}}')]
    ),
    b.graph(
      'Median wait',
      'How long messages waited from being sent to being read.',
      's',
      [b.query(b.quantile(0.5, 'holdfast_channel_wait_seconds', 'channel'), '{{channel}}')]
    ),
    b.graph(
      'Long waits',
      'The 99th percentile of the same.',
      's',
      [b.query(b.quantile(0.99, 'holdfast_channel_wait_seconds', 'channel'), '{{channel}}')]
    ),
    b.graph(
      'Heartbeats',
      'Age of the last sign of each service; of several of a name, the most silent.',
      's',
      [b.query('max by (actor) (%s)' % b.age('holdfast_heartbeat_timestamp_seconds'), '{{actor}}')]
    ) + b.limits(60) + b.drawn,
  ]),
  b.row('Syncs', [
    b.graph(
      'Outcomes',
      'Syncs by outcome: completed, nothing new, put off because changes wait, or failed.',
      'ops',
      [b.query('sum by (outcome) (%s)' % b.rate('holdfast_sync_runs_total'), '{{outcome}}')]
    ) + b.stacked,
    b.graph(
      'Time',
      'How long syncs took, resolving what is pending included.',
      's',
      [
        b.query(b.quantile(0.5, 'holdfast_sync_duration_seconds'), 'p50'),
        b.query(b.quantile(0.99, 'holdfast_sync_duration_seconds'), 'p99'),
      ]
    ),
    b.graph(
      'Stopped early',
      'Syncs that took nothing over. Pending is the rule of the early abort; the others are guards.',
      'short',
      [b.query('sum by (reason) (%s)' % b.increase('holdfast_sync_aborts_total'), '{{reason}}')]
    ) + b.stacked,
  ]),
])
