// What Prometheus works out for itself, and when it calls somebody.
//
// Each alert carries its proof: series that make it fire, and series that are nearly the same and do
// not. `pace` divides every duration, so that an outage can be rehearsed in minutes; 1 is real life.
// `runbook` is where Docs/RUNBOOK.md can be read: if nobody says, where the Debian package has it.
function(pace=1, job='holdfast', runbook='file:///usr/share/doc/holdfast/RUNBOOK.md') {
  local duration(seconds) =
    local wanted = seconds / pace;
    if wanted != std.floor(wanted) then '%dms' % std.ceil(wanted * 1000)
    else if wanted % 86400 == 0 then '%dd' % (wanted / 86400)
    else if wanted % 3600 == 0 then '%dh' % (wanted / 3600)
    else if wanted % 60 == 0 then '%dm' % (wanted / 60)
    else '%ds' % wanted,
  local minutes(count) = duration(count * 60),
  local hours(count) = duration(count * 3600),
  local days(count) = duration(count * 86400),

  local of(metric, more='') =
    '%s{job="%s"%s}' % [metric, job, if more == '' then '' else ',' + more],
  local by(expression) = 'sum by (job, instance) (%s)' % expression,
  local gained(metric, window, more='') = by('increase(%s[%s])' % [of(metric, more), window]),
  local age(metric) = 'time() - (%s > 0)' % of(metric),

  // MARK: The objective: 99.9 % of queued edits are upstream five minutes after they could be sent.

  local objective = 0.999,
  local windows = {
    '5m': minutes(5),
    '30m': minutes(30),
    '1h': hours(1),
    '2h': hours(2),
    '6h': hours(6),
    '1d': days(1),
    '3d': days(3),
  },

  recordings:: [
    {
      record: 'holdfast:pending_live:sum',
      expr: by(of('holdfast_pending_changes', 'state!="quarantined"')),
    },
    {
      record: 'holdfast:resolutions:rate5m',
      expr: by('rate(%s[%s])' % [of('holdfast_resolutions_total'), minutes(5)]),
    },
    {
      record: 'holdfast:pending_drain:seconds',
      expr: 'holdfast:pending_live:sum / (holdfast:resolutions:rate5m > 0)',
    },
  ] + [
    {
      record: 'holdfast:delivery_late:ratio_rate' + window,
      expr: '1 - %s / (%s > 0)' % [
        by('rate(%s[%s])' % [of('holdfast_edit_delivery_seconds_bucket', 'le="300.0"'), windows[window]]),
        by('rate(%s[%s])' % [of('holdfast_edit_delivery_seconds_count'), windows[window]]),
      ],
    }
    for window in std.objectFields(windows)
  ],

  local burns(factor, long, short) =
    'holdfast:delivery_late:ratio_rate%s > %g and holdfast:delivery_late:ratio_rate%s > %g' % [
      long,
      factor * (1 - objective),
      short,
      factor * (1 - objective),
    ],

  // One edit that is late is no reason to wake anybody, however few there were.
  local lateEdits(window) = '%s - %s > 4' % [
    gained('holdfast_edit_delivery_seconds_count', window),
    gained('holdfast_edit_delivery_seconds_bucket', window, 'le="300.0"'),
  ],

  // MARK: The alerts

  local own = 'job="holdfast",instance="host"',
  local series(metric, values, labels='') = {
    series: '%s{%s%s}' % [metric, own, if labels == '' then '' else ',' + labels],
    values: values,
  },
  local pending(values, state='backingOff') =
    series('holdfast_pending_changes', values, 'state="%s",type="update"' % state),
  local network(state, values) = series('holdfast_network_state', values, 'state="%s"' % state),

  // - fires: series with which it fires after `after` minutes.
  // - quiet: series with which it never does.
  local alert(name, severity, after, expr, lasts, summary, action, fires, quiet, labels={}) = {
    assert std.length(fires) + std.length(quiet) > 0 : 'The alert %s is not shown to work.' % name,
    name: 'Holdfast' + name,
    severity: severity,
    expr: expr,
    lasts: lasts,
    summary: summary,
    action: action,
    after: after,
    fires: fires,
    quiet: quiet,
    labels: labels,
  },

  alerts:: [
    // The host itself
    alert(
      'Down',
      'critical',
      10,
      'up{job="%s"} == 0' % job,
      minutes(2),
      'Holdfast on {{ $labels.instance }} does not answer Prometheus.',
      'See whether the host runs, and what its log says last. Edits are refused while it does not run; none is lost.',
      [series('up', '1x3 0x20')],
      [series('up', '1x3 0 1x20')],
    ),
    alert(
      'MetricsAbsent',
      'critical',
      10,
      'absent(holdfast_build_info{job="%s"})' % job,
      minutes(5),
      'No Holdfast is scraped at all.',
      'Look at the targets of Prometheus: the job is gone, or its listener has moved.',
      [],
      [series('holdfast_build_info', '1x20')],
      { instance: null },
    ),
    alert(
      'Restarting',
      'warning',
      30,
      'changes(%s[%s]) > 2' % [of('process_start_time_seconds'), hours(1)],
      minutes(0),
      'Holdfast on {{ $labels.instance }} was started again and again within an hour.',
      'Read why it ended. After each start every vault is locked until its owner opens it.',
      [series('process_start_time_seconds', '1x5 2x5 3x5 4x20')],
      [series('process_start_time_seconds', '1x5 2x30')],
    ),
    alert(
      'HeartbeatLate',
      'critical',
      10,
      'max by (job, instance, actor) (%s) > 60' % age('holdfast_heartbeat_timestamp_seconds'),
      minutes(2),
      'The service {{ $labels.actor }} of {{ $labels.instance }} does not come to its messages.',
      'Keep the log, then restart the host. What was accepted is on disk.',
      [series('holdfast_heartbeat_timestamp_seconds', '1+60x3 181x20', 'actor="resolver"')],
      [series('holdfast_heartbeat_timestamp_seconds', '1+60x30', 'actor="resolver"')],
      { actor: 'resolver' },
    ),
    alert(
      'ChannelFull',
      'warning',
      20,
      'max by (job, instance, channel) (%s / %s) > 0.9' % [of('holdfast_channel_depth'), of('holdfast_channel_capacity')],
      minutes(5),
      'The channel {{ $labels.channel }} of {{ $labels.instance }} is nearly full; its senders wait.',
      'See on the mesh board who reads too slowly, and whether the disk or the upstream is slow.',
      [
        series('holdfast_channel_depth', '250x30', 'channel="resolver"'),
        series('holdfast_channel_capacity', '256x30', 'channel="resolver"'),
      ],
      [
        series('holdfast_channel_depth', '250x3 0x30', 'channel="resolver"'),
        series('holdfast_channel_capacity', '256x30', 'channel="resolver"'),
      ],
      { channel: 'resolver' },
    ),
    alert(
      'DescriptorsRunOut',
      'warning',
      20,
      '%s / %s > 0.8' % [of('process_open_fds'), of('process_max_fds')],
      minutes(10),
      'Holdfast on {{ $labels.instance }} uses most of its file descriptors.',
      'See who is connected, and raise LimitNOFILE if they all have a right to be.',
      [series('process_open_fds', '900x30'), series('process_max_fds', '1000x30')],
      [series('process_open_fds', '700x30'), series('process_max_fds', '1000x30')],
    ),

    // The queue
    alert(
      'PendingTooOld',
      'warning',
      400,
      '%s > %d' % [age('holdfast_pending_deliverable_oldest_timestamp_seconds'), 6 * 3600 / pace],
      minutes(5),
      'An edit on {{ $labels.instance }} has waited for more than six hours although nothing known keeps it from being sent.',
      'Look at the errors in the list of pending changes; retry or discard what cannot go.',
      [series('holdfast_pending_deliverable_oldest_timestamp_seconds', '60x420')],
      [series('holdfast_pending_deliverable_oldest_timestamp_seconds', '60x300 0x120')],
    ),
    alert(
      'ResolverWedged',
      'critical',
      70,
      '%s > 0 and on (job, instance) %s == 0' % [
        of('holdfast_pending_deliverable_changes'),
        gained('holdfast_resolutions_total', minutes(5)),
      ],
      minutes(45),
      'Edits on {{ $labels.instance }} could be sent, and for 45 minutes (three times the longest wait) none was.',
      'Read the errors of the pending changes and the log; ask for a sync; restart the host if it does not help.',
      [
        series('holdfast_pending_deliverable_changes', '4x90'),
        series('holdfast_resolutions_total', '7x90', 'type="update",outcome="pushed"'),
      ],
      [
        series('holdfast_pending_deliverable_changes', '4x90'),
        series('holdfast_resolutions_total', '7x30 8x30 9x30', 'type="update",outcome="pushed"'),
      ],
    ),
    alert(
      'SyncStandstill',
      'warning',
      30,
      gained('holdfast_sync_standstills_total', hours(1)) + ' > 0',
      minutes(0),
      'Changes on {{ $labels.instance }} waited for no known reason; the host noticed and began anew.',
      'Nothing has to be done at once. Keep the log around that moment: it is a fault of the program.',
      [series('holdfast_sync_standstills_total', '0x10 1x30')],
      [series('holdfast_sync_standstills_total', '1x40')],
    ),
    alert(
      'QuarantineNonEmpty',
      'warning',
      20,
      by(of('holdfast_pending_changes', 'state="quarantined"')) + ' > 0',
      minutes(10),
      'Changes on {{ $labels.instance }} were set aside: upstream refuses them for good.',
      'See why in the list of pending changes; then retry, save as a copy, or discard each.',
      [pending('0x3 2x30', 'quarantined'), pending('9x33')],
      [pending('0x33', 'quarantined'), pending('9x33')],
    ),
    alert(
      'EditsRefused',
      'critical',
      12,
      gained('holdfast_http_requests_total', minutes(10), 'code="507"') + ' > 0',
      minutes(0),
      'Edits are refused on {{ $labels.instance }}: the disk or a queue is full.',
      'Free the disk, or let the queue drain (its limit is --max-pending for each account). Nothing old is dropped.',
      [series('holdfast_http_requests_total', '0x5 3x30', 'route="/object/item",code="507"')],
      [
        series('holdfast_http_requests_total', '0+9x30', 'route="/object/item",code="200"'),
        series('holdfast_http_requests_total', '3x30', 'route="/object/item",code="507"'),
      ],
    ),

    // The objective
    alert(
      'DeliveryBurnsFast',
      'critical',
      70,
      '(%s and %s) or (%s and %s)' % [
        burns(14.4, '1h', '5m'),
        lateEdits(hours(1)),
        burns(6, '6h', '30m'),
        lateEdits(hours(6)),
      ],
      minutes(2),
      "Edits of {{ $labels.instance }} reach upstream later than five minutes after they could; a month's allowance is gone within days.",
      'See on the queue board whether upstream throttles, fails or is slow, and whether the host is short of anything.',
      [
        series('holdfast_edit_delivery_seconds_bucket', '0+8x80', 'le="300.0"'),
        series('holdfast_edit_delivery_seconds_count', '0+10x80'),
      ],
      [
        series('holdfast_edit_delivery_seconds_bucket', '0+9999x80', 'le="300.0"'),
        series('holdfast_edit_delivery_seconds_count', '0+10000x80'),
      ],
    ),
    alert(
      'DeliveryBurnsSlowly',
      'warning',
      400,
      '(%s) or (%s)' % [burns(3, '1d', '2h'), burns(1, '3d', '6h')],
      minutes(15),
      'More edits of {{ $labels.instance }} are late than the objective of 99.9 % allows.',
      'As for the fast burn, without the hurry.',
      [
        series('holdfast_edit_delivery_seconds_bucket', '0+99x420', 'le="300.0"'),
        series('holdfast_edit_delivery_seconds_count', '0+100x420'),
      ],
      [
        series('holdfast_edit_delivery_seconds_bucket', '0+100x420', 'le="300.0"'),
        series('holdfast_edit_delivery_seconds_count', '0+100x420'),
      ],
    ),

    // Conflicts
    alert(
      'BackupRateHigh',
      'warning',
      70,
      '%s > 50 and %s > 0.5 * %s' % [
        gained('holdfast_backups_total', hours(1), 'outcome="created"'),
        gained('holdfast_backups_total', hours(1), 'outcome="created"'),
        gained('holdfast_resolutions_total', hours(1)),
      ],
      minutes(5),
      'Most changes of {{ $labels.instance }} end in a backup copy.',
      'Two programs may edit the same items in turn, or keys were changed upstream. Find the other writer.',
      [
        series('holdfast_backups_total', '0+2x80', 'reason="hardConflict",outcome="created"'),
        series('holdfast_resolutions_total', '0+2x80', 'type="update",outcome="backedUpServer"'),
      ],
      [
        series('holdfast_backups_total', '0+2x80', 'reason="hardConflict",outcome="created"'),
        series('holdfast_resolutions_total', '0+200x80', 'type="update",outcome="pushed"'),
      ],
    ),
    alert(
      'BackupFailed',
      'warning',
      60,
      gained('holdfast_backups_total', minutes(30), 'outcome="failed"') + ' > 3',
      minutes(5),
      'Backup copies of {{ $labels.instance }} cannot be made; the changes they belong to wait.',
      'Read the errors of the pending changes: upstream refuses new items (a limit, a policy, a size).',
      [series('holdfast_backups_total', '0+1x80', 'reason="hardConflict",outcome="failed"')],
      [series('holdfast_backups_total', '0x10 1x80', 'reason="hardConflict",outcome="failed"')],
    ),
    alert(
      'SyncRefused',
      'warning',
      30,
      gained('holdfast_sync_aborts_total', hours(1), 'reason=~"decode|auth"') + ' > 0',
      minutes(5),
      'What upstream sent to {{ $labels.instance }} is no sync answer, or was not for us.',
      "Compare the upstream's version with what is supported; look for a proxy that answers instead of it.",
      [series('holdfast_sync_aborts_total', '0x5 1x30', 'reason="decode"')],
      [series('holdfast_sync_aborts_total', '0+1x30', 'reason="pending"')],
    ),
    alert(
      'ShrinkGuardTripped',
      'critical',
      30,
      gained('holdfast_sync_aborts_total', hours(1), 'reason=~"shrink|regression"') + ' > 0',
      minutes(0),
      'Upstream shows {{ $labels.instance }} nearly nothing of a vault, or an earlier state; it was not taken over.',
      'Find out whether upstream lost data before anything else: this host may hold the last copy. Do not erase accounts.',
      [series('holdfast_sync_aborts_total', '0x5 1x30', 'reason="shrink"')],
      [series('holdfast_sync_aborts_total', '0+1x30', 'reason="pending"')],
    ),

    // Upstream
    alert(
      'UpstreamDown',
      'info',
      20,
      by(of('holdfast_network_state', 'state="offline"')) + ' > 0',
      minutes(5),
      'An upstream of {{ $labels.instance }} cannot be reached. Edits are taken and wait.',
      'Nothing has to be done here. Bring the upstream back.',
      [network('offline', '0x3 1x30')],
      [network('offline', '0x3 1x3 0x30'), network('online', '1x40')],
    ),
    alert(
      'UpstreamDegraded',
      'warning',
      50,
      '%s > 0 unless on (job, instance) %s > 0' % [
        by(of('holdfast_network_state', 'state="degraded"')),
        gained('holdfast_upstream_throttled_total', hours(6)),
      ],
      minutes(30),
      'An upstream of {{ $labels.instance }} can be reached and fails.',
      "Read the upstream's own log; see on the upstream board which operations fail.",
      [network('degraded', '1x60'), series('holdfast_upstream_throttled_total', '0x60')],
      [network('degraded', '1x60'), series('holdfast_upstream_throttled_total', '0x10 5x60')],
    ),
    alert(
      'UpstreamBanned',
      'warning',
      50,
      '%s > 0 and on (job, instance) %s > 0' % [
        by(of('holdfast_network_state', 'state="degraded"')),
        gained('holdfast_upstream_throttled_total', hours(6)),
      ],
      minutes(15),
      'An upstream has asked {{ $labels.instance }} to be left alone, for longer than a quarter of an hour.',
      'Wait; the host keeps to what it was asked. If it happens often, raise the limits upstream or spread the accounts.',
      [network('degraded', '0x10 1x60'), series('holdfast_upstream_throttled_total', '0x10 5x60')],
      [network('degraded', '0x10 1x5 0x60'), series('holdfast_upstream_throttled_total', '0x10 5x60')],
    ),
    alert(
      'AccountSignedOut',
      'warning',
      30,
      of('holdfast_accounts', 'status="signedOut"') + ' > 0',
      minutes(15),
      'Accounts of {{ $labels.instance }} were signed out by their upstream. What they have pending is sealed and kept.',
      'Their owners have to sign in again with the same address; then everything goes on where it was.',
      [series('holdfast_accounts', '0x5 1x40', 'status="signedOut"')],
      [series('holdfast_accounts', '0x5 1x5 0x40', 'status="signedOut"'), series('holdfast_accounts', '3x40', 'status="locked"')],
      { status: 'signedOut' },
    ),
    alert(
      'ClockSkew',
      'warning',
      30,
      'abs(%s) > 30' % of('holdfast_upstream_clock_offset_seconds'),
      minutes(10),
      'The clocks of {{ $labels.instance }} and of its upstream differ by more than half a minute.',
      'Set the clock of whichever is wrong. Who was later in a conflict is decided by them.',
      [series('holdfast_upstream_clock_offset_seconds', '-45x40')],
      [series('holdfast_upstream_clock_offset_seconds', '-20x40')],
    ),

    // The store
    alert(
      'StorageErrors',
      'critical',
      12,
      gained('holdfast_store_errors_total', minutes(10)) + ' > 0',
      minutes(0),
      'The disk under {{ $labels.instance }} did not take what the store wrote.',
      "Read the host's log for what the disk said, and the kernel's. Reads go on; edits are taken again once a write succeeds.",
      [series('holdfast_store_errors_total', '0x5 1x30', 'work="commit"')],
      [series('holdfast_store_errors_total', '1x30', 'work="commit"')],
    ),
    alert(
      'CommitSlow',
      'warning',
      30,
      'histogram_quantile(0.99, sum by (job, instance, le) (rate(%s[%s]))) > 0.1' % [
        of('holdfast_store_commit_seconds_bucket'),
        minutes(10),
      ],
      minutes(10),
      'Commits of {{ $labels.instance }} take longer than 100 ms; so does every edit.',
      'See what else writes to that disk, and whether it is well.',
      [
        series('holdfast_store_commit_seconds_bucket', '0x40', 'le="0.1"'),
        series('holdfast_store_commit_seconds_bucket', '0+9x40', 'le="0.25"'),
        series('holdfast_store_commit_seconds_bucket', '0+9x40', 'le="+Inf"'),
      ],
      [
        series('holdfast_store_commit_seconds_bucket', '0+9x40', 'le="0.1"'),
        series('holdfast_store_commit_seconds_bucket', '0+9x40', 'le="0.25"'),
        series('holdfast_store_commit_seconds_bucket', '0+9x40', 'le="+Inf"'),
      ],
    ),
    alert(
      'DiskHangs',
      'critical',
      10,
      age('holdfast_store_flush_started_timestamp_seconds') + ' > 30',
      minutes(1),
      'The disk of {{ $labels.instance }} has been at a single commit for more than half a minute; edits wait.',
      'See what the kernel says of the disk. Reads go on, and edits too as soon as the disk answers; none that was answered is lost.',
      [series('holdfast_store_flush_started_timestamp_seconds', '0x3 240x20')],
      [series('holdfast_store_flush_started_timestamp_seconds', '0+60x30')],
    ),
    alert(
      'DiskWillFill',
      'warning',
      420,
      'predict_linear(%s[%s], %d) < 0' % [of('holdfast_store_free_bytes'), hours(6), 86400 / pace],
      minutes(30),
      'The disk of {{ $labels.instance }} is full within a day if it goes on like this.',
      'Make room, or find out what grows. When it is full, new edits are refused.',
      [series('holdfast_store_free_bytes', '1000000000-1000000x420')],
      [series('holdfast_store_free_bytes', '1000000000-100x420')],
    ),
    alert(
      'DiskNearlyFull',
      'critical',
      20,
      of('holdfast_store_free_bytes') + ' < %d' % (128 * 1024 * 1024),
      minutes(5),
      'The disk of {{ $labels.instance }} has less than 128 MiB left.',
      'Make room now. When it is full, new edits are refused; nothing old is lost.',
      [series('holdfast_store_free_bytes', '100000000x30')],
      [series('holdfast_store_free_bytes', '200000000x30')],
    ),
  ],

  // MARK: The files

  rules: { groups: [
    { name: 'holdfast.figures', interval: duration(60), rules: $.recordings },
    {
      name: 'holdfast.alerts',
      interval: duration(60),
      rules: [
        {
          alert: alert.name,
          expr: alert.expr,
          'for': alert.lasts,
          labels: { severity: alert.severity },
          annotations: {
            summary: alert.summary,
            action: alert.action,
            runbook_url: '%s#%s' % [runbook, std.asciiLower(alert.name)],
          },
        }
        for alert in $.alerts
      ],
    },
  ] },

  // What promtool is to find. The longer an alert takes, the fewer are the moments that are looked at,
  // or the proof would take half a minute.
  local step(alert) = if alert.after < 50 then '1m' else if alert.after < 400 then '5m' else '10m',

  tests(file):: {
    ['alerts-%s.json' % every]: $.proofs(file, every, [alert for alert in $.alerts if step(alert) == every])
    for every in ['1m', '5m', '10m']
  },

  proofs(file, step, alerts):: {
    rule_files: [file],
    evaluation_interval: step,
    // Otherwise it is by chance whether an alert sees the figures of its own moment.
    group_eval_order: ['holdfast.figures', 'holdfast.alerts'],
    tests: std.flattenArrays([
      local labels = { [name]: alert.labels[name] for name in std.objectFields(alert.labels) if alert.labels[name] != null };
      local host = if std.objectHas(alert.labels, 'instance') then {} else { instance: 'host' };
      local told(text) = std.foldl(
        function(text, name) std.strReplace(text, '{{ $labels.%s }}' % name, (labels + host)[name]),
        std.objectFields(labels + host),
        text
      );
      [
        {
          name: alert.name + ' fires',
          interval: '1m',
          input_series: alert.fires,
          alert_rule_test: [{
            eval_time: '%dm' % alert.after,
            alertname: alert.name,
            exp_alerts: [{
              exp_labels: { severity: alert.severity, job: 'holdfast' } + host + labels,
              exp_annotations: {
                summary: told(alert.summary),
                action: alert.action,
                runbook_url: '%s#%s' % [runbook, std.asciiLower(alert.name)],
              },
            }],
          }],
        },
        {
          name: alert.name + ' is quiet',
          interval: '1m',
          input_series: alert.quiet,
          alert_rule_test: [
            { eval_time: '%dm' % minute, alertname: alert.name, exp_alerts: [] }
            for minute in [2, 5, 10, 20, alert.after, alert.after + 10]
          ],
        },
      ]
      for alert in alerts
    ]),
  },

  names:: [alert.name for alert in $.alerts],
}
