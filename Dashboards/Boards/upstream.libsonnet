local b = import '../boards.libsonnet';

local requests = 'holdfast_upstream_requests_total';
local times = 'holdfast_upstream_request_duration_seconds';

b.board('holdfast-upstream', 'Upstream', 'What is asked of upstreams, how they answer, and how much of us they take.', [
  b.row('Now', [
    b.stat(
      'Online',
      'Upstreams that answer.',
      'short',
      'sum(%s)' % b.of('holdfast_network_state', 'state="online"')
    ) + b.plain,
    b.stat(
      'Degraded',
      'Upstreams that can be reached but throttle us or fail.',
      'short',
      'sum(%s)' % b.of('holdfast_network_state', 'state="degraded"')
    ) + b.limits(1, 1000),
    b.stat(
      'Away',
      'Upstreams that cannot be reached.',
      'short',
      'sum(%s)' % b.of('holdfast_network_state', 'state="offline"')
    ) + b.limits(1, 1000),
    b.stat(
      'Not asked at all',
      'Upstreams whose breaker is open: they failed so often that only a probe now and then goes out.',
      'short',
      'sum(%s)' % b.of('holdfast_upstream_breakers', 'state="open"')
    ) + b.limits(1, 1000),
    b.stat(
      'Errors',
      'Share of requests of the last minutes that ended without an answer or with a server error.',
      'percentunit',
      '(sum(%s) / (sum(%s) > 0)) or vector(0)' % [
        b.rate(requests, 'result=~"5xx|transport"'),
        b.rate(requests),
      ]
    ) + b.limits(0.05, 0.5),
    b.stat(
      'Clock',
      "How much the clock of an upstream is ahead of ours. Conflicts are decided in upstream's time, which has to be known.",
      's',
      'max(abs(%s))' % b.of('holdfast_upstream_clock_offset_seconds')
    ) + b.limits(5, 30),
  ]),
  b.row('Answers', [
    b.graph(
      'By result',
      'Requests by their end: answered, refused, throttled, failed, or no answer at all (transport).',
      'reqps',
      [b.query('sum by (result) (%s)' % b.rate(requests), '{{result}}')]
    ) + b.stacked,
    b.graph(
      'By operation',
      'The ten operations that are asked most.',
      'reqps',
      [b.query('topk(10, sum by (operation) (%s))' % b.rate(requests), '{{operation}}')]
    ),
    b.graph(
      'Not well, by operation',
      'Which operations are refused, throttled or fail.',
      'reqps',
      [b.query('topk(10, sum by (operation, result) (%s))' % b.rate(requests, 'result!="2xx"'), '{{operation}} {{result}}')]
    ),
  ]),
  b.row('Time', [
    b.graph(
      'Time of a request',
      'How long requests took on the wire, without the wait for their turn.',
      's',
      [
        b.query(b.quantile(0.5, times), 'p50'),
        b.query(b.quantile(0.9, times), 'p90'),
        b.query(b.quantile(0.99, times), 'p99'),
      ]
    ) + b.wide,
    b.graph(
      'Slowest operations',
      'The 99th percentile of the ten slowest operations.',
      's',
      [b.query('topk(10, %s)' % b.quantile(0.99, times, 'operation'), '{{operation}}')]
    ) + b.wide,
  ]),
  b.row('Budget', [
    b.graph(
      'Under way and waiting',
      'Requests that are out, and those that wait for their turn because upstream takes no more.',
      'short',
      [
        b.query('sum(%s)' % b.of('holdfast_upstream_requests_in_flight'), 'under way'),
        b.query('sum(%s)' % b.of('holdfast_upstream_requests_waiting'), 'waiting'),
      ]
    ),
    b.graph(
      'Asked to wait',
      'Answers by which an upstream, or a guard before it, asked to be left alone, and requests that therefore, or because it is away, were not sent.',
      'ops',
      [
        b.query('sum(%s)' % b.rate('holdfast_upstream_throttled_total'), 'throttled'),
        b.query('sum(%s)' % b.rate('holdfast_upstream_bans_total'), "a guard's page"),
        b.query('sum by (reason) (%s)' % b.rate('holdfast_upstream_requests_refused_total'), 'not sent: {{reason}}'),
      ]
    ),
    b.graph(
      'Breakers',
      'Upstreams by whether they are asked: closed is normal, half open is a probe, open is a pause.',
      'short',
      [b.query('sum by (state) (%s)' % b.of('holdfast_upstream_breakers'), '{{state}}')]
    ) + b.stacked,
    b.graph(
      'State of the network',
      'Upstreams in each state.',
      'short',
      [b.query('sum by (state) (%s)' % b.of('holdfast_network_state'), '{{state}}')]
    ) + b.stacked,
    b.graph(
      'Changes of state',
      'How often upstreams came into a state. Many are a line that comes and goes.',
      'short',
      [b.query('sum by (to) (%s)' % b.increase('holdfast_network_transitions_total'), '{{to}}')]
    ),
    b.graph(
      'Clock offset',
      'How much the clock of the upstream in use that differs most is ahead of ours, as its latest answer said.',
      's',
      [b.query('max by (instance) (%s)' % b.of('holdfast_upstream_clock_offset_seconds'), '{{instance}}')]
    ) + b.signed,
  ]),
])
