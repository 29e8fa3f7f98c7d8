local b = import '../boards.libsonnet';

b.board('holdfast-overview', 'Overview', 'Is sync healthy? The first row answers in five seconds.', [
  b.row('Is sync healthy?', [
    b.stat(
      'Alerts',
      'Alerts that are firing and want somebody to act. What to do is in each alert and in the runbook.',
      'short',
      '(count(ALERTS{alertname=~"Holdfast.+",alertstate="firing",severity!="info",%s}) or vector(0))' % b.chosen
    ) + b.limits(1) + b.words({ '0': ['none', 'green'] }),
    b.stat(
      'Upstreams away',
      'Upstreams that cannot be reached. Edits are taken all the same; they wait here.',
      'short',
      'sum(%s)' % b.of('holdfast_network_state', 'state="offline"')
    ) + b.limits(1, 1000) + b.words({ '0': ['none', 'green'] }),
    b.stat(
      'Edits that wait',
      'Edits that upstream has not accepted yet, quarantined ones too. During an outage this grows; that is the purpose.',
      'short',
      'sum(%s)' % b.of('holdfast_pending_changes')
    ) + b.limits(1, 8000),
    b.stat(
      'Waiting although it could go',
      'Age of the oldest change in open vaults whose upstream answers. Minutes are a drain; hours are trouble.',
      's',
      'max(%s) or vector(0)' % b.age('holdfast_pending_deliverable_oldest_timestamp_seconds')
    ) + b.limits(300, 21600),
    b.stat(
      'Set aside',
      'Changes in quarantine: upstream refused them for good, and a person has to decide.',
      'short',
      'sum(%s)' % b.of('holdfast_pending_changes', 'state="quarantined"')
    ) + b.limits(1) + b.words({ '0': ['none', 'green'] }),
    b.stat(
      'Within five minutes, 30 days',
      'Share of queued edits that were seen upstream within five minutes of the moment when they could be sent. The objective is 99.9 %.',
      'percentunit',
      '(sum(increase(%s[30d])) / (sum(increase(%s[30d])) > 0)) or vector(1)' % [
        b.of('holdfast_edit_delivery_seconds_bucket', 'le="300.0"'),
        b.of('holdfast_edit_delivery_seconds_count'),
      ]
    ) + b.floors(0.999, 0.9995) + { fieldConfig+: { defaults+: { decimals: 3, max: 1 } } },
  ]),
  b.row('The road of an edit', [
    b.graph(
      'Edits taken',
      'Edits of clients by what became of them at once: saved upstream, queued here, or rejected.',
      'ops',
      [b.query('sum by (disposition) (%s)' % b.rate('holdfast_edits_total'), '{{disposition}}')]
    ) + b.stacked,
    b.graph(
      'Edits that wait',
      'Pending changes by state. Ready ones wait for the network or for their turn, those that back off have failed before.',
      'short',
      [b.query('sum by (state) (%s)' % b.of('holdfast_pending_changes'), '{{state}}')]
    ) + b.stacked,
    b.graph(
      'Until they are upstream',
      'From the moment at which a queued edit could be sent until it was seen upstream, and the whole way from its acceptance.',
      's',
      [
        b.query(b.quantile(0.5, 'holdfast_edit_delivery_seconds'), 'p50 once possible'),
        b.query(b.quantile(0.99, 'holdfast_edit_delivery_seconds'), 'p99 once possible'),
        b.query(b.quantile(0.99, 'holdfast_edit_propagation_seconds'), 'p99 from acceptance'),
      ]
    ) + b.limits(300) + b.drawn,
  ]),
  b.row('What clients see', [
    b.graph(
      'Requests',
      'Requests of clients by the code of the answer.',
      'reqps',
      [b.query('sum by (code) (%s)' % b.rate('holdfast_http_requests_total'), '{{code}}')]
    ) + b.stacked,
    b.graph(
      'Time to the answer',
      'How long clients waited until their answers began, over all routes.',
      's',
      [
        b.query(b.quantile(0.5, 'holdfast_http_request_duration_seconds'), 'p50'),
        b.query(b.quantile(0.99, 'holdfast_http_request_duration_seconds'), 'p99'),
      ]
    ),
    b.graph(
      'Time to take an edit',
      'How long edits took until their callers had an answer. A queued edit costs one commit to stable storage.',
      's',
      [b.query(b.quantile(0.99, 'holdfast_edit_duration_seconds', 'disposition'), 'p99 {{disposition}}')]
    ) + b.limits(0.1, 1) + b.drawn,
  ]),
  b.row('Accounts', [
    b.graph(
      'Accounts',
      'Accounts by how they stand. A locked vault takes no edits and sends none; a signed-out one waits for its owner.',
      'short',
      [b.query('sum by (status) (%s)' % b.of('holdfast_accounts'), '{{status}}')]
    ) + b.stacked,
    b.graph(
      'Syncs',
      'Syncs of all accounts by outcome. Deferred ones found changes that still wait and stopped before taking anything over.',
      'ops',
      [b.query('sum by (outcome) (%s)' % b.rate('holdfast_sync_runs_total'), '{{outcome}}')]
    ) + b.stacked,
    b.graph(
      'Since the last sync',
      'Age of the last successful sync of the account that waits longest.',
      's',
      [b.query(b.age('holdfast_sync_last_success_timestamp_seconds'), '{{instance}}')]
    ),
  ]),
])
