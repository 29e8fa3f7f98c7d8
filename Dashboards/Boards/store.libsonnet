local b = import '../boards.libsonnet';

b.board('holdfast-store', 'Store and process', 'The disk underneath, the process above it, and the requests of clients in detail.', [
  b.row('Now', [
    b.stat(
      'Commit, p99',
      'How long a commit takes until it is on stable storage. Every queued edit waits for one.',
      's',
      b.quantile(0.99, 'holdfast_store_commit_seconds')
    ) + b.limits(0.05, 0.1),
    b.stat(
      'Store errors, last day',
      'Commits and checkpoints that the disk did not take, and what could not be read of it.',
      'short',
      'sum(increase(%s[1d]))' % b.of('holdfast_store_errors_total')
    ) + b.limits(1) + b.counted,
    b.stat(
      'Room on the disk',
      'What the disk of the state directory has left. When it is full, new edits are refused and nothing old is lost.',
      'bytes',
      'min(%s)' % b.of('holdfast_store_free_bytes')
    ) + b.floors(268435456, 1073741824),
    b.stat(
      'Memory',
      'Resident memory of the process.',
      'bytes',
      'max(%s)' % b.of('process_resident_memory_bytes')
    ) + b.plain,
    b.stat(
      'File descriptors',
      'Share of the descriptors in use that the process may have.',
      'percentunit',
      'max(%s / %s)' % [b.of('process_open_fds'), b.of('process_max_fds')]
    ) + b.limits(0.5, 0.8),
    b.stat(
      'Running for',
      'Since the process was started. After a start every vault is locked until its owner opens it.',
      's',
      'min(%s)' % b.age('process_start_time_seconds')
    ) + b.plain,
  ]),
  b.row('Store', [
    b.graph(
      'Commit',
      'How long commits took until they were on stable storage.',
      's',
      [
        b.query(b.quantile(0.5, 'holdfast_store_commit_seconds'), 'p50'),
        b.query(b.quantile(0.99, 'holdfast_store_commit_seconds'), 'p99'),
      ]
    ) + b.limits(0.1) + b.drawn,
    b.graph(
      'Commits',
      'Commits per second. Edits that come at once share one.',
      'ops',
      [b.query('sum(%s)' % b.rate('holdfast_store_commit_seconds_count'), 'commits')]
    ),
    b.graph(
      'Rows in a commit',
      'How many rows shared a commit.',
      'short',
      [
        b.query(b.quantile(0.5, 'holdfast_store_commit_rows'), 'p50'),
        b.query(b.quantile(0.99, 'holdfast_store_commit_rows'), 'p99'),
      ]
    ),
    b.graph(
      'Files',
      'How large the database and its log are. The log is emptied into the database now and then.',
      'bytes',
      [b.query('sum by (file) (%s)' % b.of('holdfast_store_bytes'), '{{file}}')]
    ) + b.stacked,
    b.graph(
      'Room on the disk',
      'What is left, and what would be left in a day if it went on as in the last six hours.',
      'bytes',
      [
        b.query('min by (instance) (%s)' % b.of('holdfast_store_free_bytes'), '{{instance}} now'),
        b.query(
          'clamp_min(min by (instance) (predict_linear(%s[6h], 86400)), 0)' % b.of('holdfast_store_free_bytes'),
          '{{instance}} in a day'
        ),
      ]
    ),
    b.graph(
      'Errors',
      'Commits and checkpoints that the disk did not take, and what could not be read of it.',
      'short',
      [b.query('sum by (work) (%s)' % b.increase('holdfast_store_errors_total'), '{{work}}')]
    ),
  ]),
  b.row('Process', [
    b.graph(
      'Processor',
      'Processor time per second: 1 is one core.',
      'short',
      [b.query('sum by (instance) (%s)' % b.rate('process_cpu_seconds_total'), '{{instance}}')]
    ),
    b.graph(
      'Memory',
      'Resident memory, and the address space it is part of.',
      'bytes',
      [
        b.query('sum by (instance) (%s)' % b.of('process_resident_memory_bytes'), '{{instance}} resident'),
        b.query('sum by (instance) (%s)' % b.of('process_virtual_memory_bytes'), '{{instance}} address space'),
      ]
    ) + b.aside('address space'),
    b.graph(
      'Descriptors and threads',
      'Open file descriptors and threads.',
      'short',
      [
        b.query('sum(%s)' % b.of('process_open_fds'), 'descriptors'),
        b.query('sum(%s)' % b.of('process_threads'), 'threads'),
      ]
    ),
  ]),
  b.row('Requests of clients', [
    b.graph(
      'By route',
      'The ten routes that are asked most.',
      'reqps',
      [b.query('topk(10, sum by (route) (%s))' % b.rate('holdfast_http_requests_total'), '{{route}}')]
    ),
    b.graph(
      'Slowest routes',
      'The 99th percentile of the ten slowest routes.',
      's',
      [b.query('topk(10, %s)' % b.quantile(0.99, 'holdfast_http_request_duration_seconds', 'route'), '{{route}}')]
    ),
    b.graph(
      'Refused',
      'Answers other than 200, by code: 507 is a full disk or queue, 503 too many at once, 401 and 403 no right to ask.',
      'reqps',
      [b.query('sum by (code) (%s)' % b.rate('holdfast_http_requests_total', 'code!="200"'), '{{code}}')]
    ) + b.stacked,
    b.table(
      'What runs',
      'Versions of the host, of Swift and of SQLite.',
      'short',
      'max by (instance, version, swift, sqlite) (%s)' % b.of('holdfast_build_info')
    ) + b.whole + { size+:: { h: 4 } },
  ]),
])
