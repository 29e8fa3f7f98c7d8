// What Prometheus works out for itself, and when it calls somebody.
//
// Each alert carries its proof: series that make it fire, and series that are nearly the same and do
// not. Beside them stand whole days of a host, and what is told of them. `pace` divides every duration, so that an outage can be rehearsed in minutes; 1 is real life.
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
  local here = 'on (job, instance)',

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

  // MARK: What is wrong with an upstream

  // What fails is tried again after a quarter of an hour at the latest, so within three of them it shows.
  local lately = minutes(45),
  local inState(states) = by(of('holdfast_network_state', 'state' + states)),
  local isNotOnline = inState('!="online"') + ' > 0',

  // A guard's page is all that is seen of the upstream then, and is looked at every half hour, if not more often.
  local isBanned = gained('holdfast_upstream_bans_total', lately) + ' > 0',

  // Who asks to be left alone does so for an hour at most, and nothing is sent meanwhile. One such answer among
  // errors says as little as one error among them; and the line on which upstream tells its news is not asked.
  local asksForPatience = '(%s > 0 unless %s %s > clamp_min(%s, 1.5))' % [
    gained('holdfast_upstream_throttled_total', hours(2)),
    here,
    gained('holdfast_upstream_requests_total', hours(1), 'result="5xx",operation!="hub"'),
    gained('holdfast_upstream_throttled_total', hours(1)),
  ],

  // How often upstreams were lost, but for those times at which they asked to be left alone.
  local losses(window) = '%s - %s' % [
    gained('holdfast_network_transitions_total', window, 'to!="online"'),
    gained('holdfast_upstream_throttled_total', window),
  ],

  // For how much of the time upstreams were not well, but for those that never were.
  local shareAway(window) =
    local state = '%s[%s]' % [of('holdfast_network_state', 'state!="online"'), window];
    by('avg_over_time(%s) - min_over_time(%s)' % [state, state]),

  // MARK: The alerts

  local own = 'job="holdfast",instance="host"',
  local series(metric, values, labels='') = {
    series: '%s{%s%s}' % [metric, own, if labels == '' then '' else ',' + labels],
    values: values,
  },
  // A counter that grows by one every so many minutes.
  local every(distance, minutes) =
    std.join(' ', ['%dx%d' % [count, distance - 1] for count in std.range(0, minutes / distance)]),
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
      420,
      // What an outage has kept is as old once it can be sent, and for as long as all of it is on its way. Then the
      // oldest is another one every moment, or was none before.
      '%s > %d and %s changes(%s[%s]) == 0' % [
        age('holdfast_pending_deliverable_oldest_timestamp_seconds'),
        6 * 3600 / pace,
        here,
        of('holdfast_pending_deliverable_oldest_timestamp_seconds'),
        minutes(30),
      ],
      minutes(30),
      'An edit on {{ $labels.instance }} is more than six hours old, and for half an hour at least nothing known has kept it from being sent.',
      'Look at the errors in the list of pending changes; retry or discard what cannot go.',
      [series('holdfast_pending_deliverable_oldest_timestamp_seconds', '60x440')],
      [series('holdfast_pending_deliverable_oldest_timestamp_seconds', '0x359 60+60x80')],
    ),
    alert(
      'PendingLocked',
      'warning',
      1600,
      '%s > %d' % [age('holdfast_pending_locked_oldest_timestamp_seconds'), 86400 / pace],
      hours(1),
      'An edit on {{ $labels.instance }} is more than a day old, and only waits for its vault to be unlocked.',
      'Ask its owner to unlock it: a locked vault sends nothing. What waits is kept.',
      [series('holdfast_pending_locked_oldest_timestamp_seconds', '60x1620')],
      [
        series('holdfast_pending_locked_oldest_timestamp_seconds', '0x1569 60x50'),
        series('holdfast_pending_oldest_timestamp_seconds', '60x1620'),
        pending('3x1620', 'ready'),
        series('holdfast_accounts', '1x1620', 'status="locked"'),
      ],
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
      300,
      // What is refused twice is set aside, and not tried again. One seems to be a little more than one.
      '%s > 1.5 and %s > 0' % [
        gained('holdfast_backups_total', hours(2), 'outcome="failed"'),
        gained('holdfast_backups_total', lately, 'outcome="failed"'),
      ],
      minutes(5),
      'Backup copies of {{ $labels.instance }} cannot be made; the changes they belong to wait, or were set aside.',
      'Read the errors of the pending changes: upstream refuses new items (a limit, a policy, a size).',
      [series('holdfast_backups_total', every(15, 320), 'reason="hardConflict",outcome="failed"')],
      [series('holdfast_backups_total', '0x8 1x320', 'reason="hardConflict",outcome="failed"')],
    ),
    alert(
      'SyncRefused',
      'warning',
      30,
      gained('holdfast_sync_aborts_total', hours(1), 'reason="decode"') + ' > 0',
      minutes(5),
      'What upstream sent to {{ $labels.instance }} is no sync answer, or was not for us.',
      "Compare the upstream's version with what is supported; look for a proxy that answers instead of it.",
      [series('holdfast_sync_aborts_total', '0x5 1x30', 'reason="decode"')],
      [
        series('holdfast_sync_aborts_total', '0+1x30', 'reason="pending"'),
        series('holdfast_sync_aborts_total', '0x5 2x30', 'reason="auth"'),
      ],
    ),
    alert(
      'SyncStale',
      'warning',
      330,
      // Who is signed out is told of by AccountSignedOut, and asks in vain again and again.
      'time() - %s > %d and %s %s > 0.01 * %s unless %s %s unless %s %s > 0 unless %s (%s > 0 and %s %s > 0)' % [
        of('holdfast_sync_last_success_timestamp_seconds'),
        3 * 3600 / pace,
        here,
        gained('holdfast_sync_runs_total', lately, 'outcome="failed"'),
        gained('holdfast_sync_runs_total', lately),
        here,
        isNotOnline,
        here,
        gained('holdfast_sync_aborts_total', hours(1), 'reason!~"pending|auth"'),
        here,
        gained('holdfast_sync_aborts_total', hours(1), 'reason="auth"'),
        here,
        of('holdfast_accounts', 'status="signedOut"'),
      ],
      hours(1),
      'An account of {{ $labels.instance }} was not synced for three hours, although its upstream answers; syncs fail.',
      'Ask for a sync and read what it says. What others changed is not seen here until one succeeds; edits go on.',
      [
        series('holdfast_sync_last_success_timestamp_seconds', '3600x340'),
        series('holdfast_sync_runs_total', every(15, 340), 'outcome="failed"'),
        series('holdfast_sync_runs_total', every(10, 340), 'outcome="notNeeded"'),
        network('online', '1x340'),
        network('offline', '0x340'),
        series('holdfast_sync_aborts_total', '0x340', 'reason="decode"'),
      ],
      [
        series('holdfast_sync_last_success_timestamp_seconds', '3600x340'),
        series('holdfast_sync_runs_total', '5x340', 'outcome="failed"'),
        series('holdfast_sync_runs_total', every(10, 340), 'outcome="notNeeded"'),
        network('online', '1x340'),
        network('offline', '0x340'),
      ],
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
      '%s > 0 unless %s %s' % [inState('="offline"'), here, isBanned],
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
      '%s > 0 unless %s %s' % [inState('="degraded"'), here, asksForPatience],
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
      '(%s > 0 and %s %s) or (%s > 0 and %s %s)' % [
        inState('="degraded"'),
        here,
        asksForPatience,
        inState('="offline"'),
        here,
        isBanned,
      ],
      minutes(15),
      'An upstream, or a guard before it, has wanted {{ $labels.instance }} to leave it alone for longer than a quarter of an hour.',
      'Wait; the host keeps to what it was asked. A guard can be told to let it in. If it happens often, raise the limits upstream or spread the accounts.',
      [network('degraded', '0x10 1x60'), series('holdfast_upstream_throttled_total', '0x10 5x60')],
      [network('degraded', '0x10 1x5 0x60'), series('holdfast_upstream_throttled_total', '0x10 5x60')],
    ),
    alert(
      'UpstreamFlapping',
      'warning',
      90,
      // One loss seems to be a little more than one, because figures do not come in at the edges of the time.
      '%s > 1.5 and %s %s > 0.1' % [losses(minutes(30)), here, shareAway(minutes(30))],
      minutes(45),
      'The way to an upstream of {{ $labels.instance }} has come and gone again and again for three quarters of an hour at least.',
      'Look at the line, the name service, and what stands before the upstream or starts it anew. Edits are taken and wait.',
      [
        series('holdfast_network_transitions_total', every(5, 110), 'to="offline"'),
        series('holdfast_upstream_throttled_total', '0x110'),
        network('offline', std.join(' ', ['1x3 0'] + std.repeat(['1x3 0'], 21))),
      ],
      [
        series('holdfast_network_transitions_total', '0x20 1x3 2x3 3x3 4x110', 'to="offline"'),
        series('holdfast_upstream_throttled_total', '0x150'),
        network('offline', '0x20 1x2 0 1x2 0 1x2 0 1x2 0x110'),
      ],
    ),
    alert(
      'AccountSignedOut',
      'warning',
      30,
      of('holdfast_accounts', 'status="signedOut"') + ' > 0',
      minutes(15),
      'Accounts of {{ $labels.instance }} are signed out, by their upstream or because the database was lost. What they have pending is kept.',
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

  // MARK: Days of a host

  local longest = 3000,

  // A figure that stands for so many minutes at each value, and then at the last one.
  local stands(spans) =
    std.join(' ', ['%dx%d' % [span[1], span[0] - 1] for span in spans] + ['%dx%d' % [spans[std.length(spans) - 1][1], longest]]),

  // A figure that grows, for so many minutes each, every so many minutes (0: not at all) by so much, or by one.
  local grows(spans, start=0) =
    local told = std.foldl(
      function(past, span)
        local count = if span[1] == 0 then 0 else span[0] / span[1];
        local gain = if std.length(span) > 2 then span[2] else 1;
        {
          value: past.value + count * gain,
          texts: past.texts + if count == 0 then ['%dx%d' % [past.value, span[0] - 1]]
          else ['%dx%d' % [past.value + step * gain, span[1] - 1] for step in std.range(1, count)],
        },
      spans,
      { value: start, texts: [] }
    );
    std.join(' ', told.texts + ['%dx%d' % [told.value, longest]]),

  local again(text, times) = std.join(' ', std.repeat([text], times)),
  local nothing = stands([[1, 0]]),

  // What is not told of a day is as on any: all goes well, and syncs find nothing new.
  local synced = grows([[30, 0], [1770, 30, 1800]], 60),
  local asked = grows([[1800, 15]]),
  local anyDay = {
    up: stands([[1, 1]]),
    'holdfast_build_info{version="1"}': stands([[1, 1]]),
    'holdfast_accounts{status="locked"}': nothing,
    'holdfast_accounts{status="unlocked"}': stands([[1, 2]]),
    'holdfast_accounts{status="signedOut"}': nothing,
    'holdfast_pending_changes{type="update",state="ready"}': nothing,
    'holdfast_pending_changes{type="update",state="quarantined"}': nothing,
    holdfast_pending_oldest_timestamp_seconds: nothing,
    holdfast_pending_deliverable_changes: nothing,
    holdfast_pending_deliverable_oldest_timestamp_seconds: nothing,
    holdfast_pending_locked_oldest_timestamp_seconds: nothing,
    holdfast_sync_last_success_timestamp_seconds: synced,
    'holdfast_sync_runs_total{outcome="notNeeded"}': asked,
    'holdfast_sync_runs_total{outcome="failed"}': nothing,
    'holdfast_sync_aborts_total{reason="pending"}': nothing,
    'holdfast_sync_aborts_total{reason="auth"}': nothing,
    'holdfast_sync_aborts_total{reason="decode"}': nothing,
    'holdfast_resolutions_total{type="update",outcome="pushed"}': nothing,
    'holdfast_backups_total{reason="hardConflict",outcome="failed"}': nothing,
    'holdfast_network_state{state="degraded"}': nothing,
    'holdfast_network_state{state="offline"}': nothing,
    'holdfast_network_transitions_total{to="online"}': nothing,
    'holdfast_network_transitions_total{to="degraded"}': nothing,
    'holdfast_network_transitions_total{to="offline"}': nothing,
    holdfast_upstream_throttled_total: nothing,
    holdfast_upstream_bans_total: nothing,
    'holdfast_upstream_requests_total{operation="sync",result="5xx"}': nothing,
    'holdfast_upstream_requests_total{operation="hub",result="5xx"}': nothing,
  },

  // From its second hour on no sync succeeds, until that minute, each being tried again after a quarter of an hour.
  local nothingSynced(until) = {
    holdfast_sync_last_success_timestamp_seconds:
      grows([[30, 0], [30, 30, 1800], [until - 60, 0], [1, 1, 60 * (until - 60)], [600, 30, 1800]], 60),
    'holdfast_sync_runs_total{outcome="failed"}': grows([[60, 0], [until - 60, 15]]),
    'holdfast_sync_runs_total{outcome="notNeeded"}': grows([[60, 15], [until - 60, 0], [600, 15]]),
  },

  // Of the alerts, that are looked at every hour, those in `tells` fire from the first minute there to the second,
  // and no others. The rules are worked out every `step`, which is to catch what comes and goes.
  local day(name, lasts, tells, figures, step='10m') = {
    name: name,
    lasts: lasts,
    tells: tells,
    figures: anyDay + figures,
    step: step,
  },

  days:: [
    day('A healthy day: the vaults are locked at night, and now and then a call is lost, throttled, or fails', 1440, {}, {
      'holdfast_accounts{status="locked"}': stands([[900, 0], [1, 2]]),
      'holdfast_accounts{status="unlocked"}': stands([[900, 2], [1, 0]]),
      'holdfast_sync_runs_total{outcome="failed"}': grows([[1500, 300]]),
      'holdfast_network_state{state="offline"}': again('0x9 1 0x288', 5),
      'holdfast_network_state{state="degraded"}': again('0x49 1 0x188', 6),
      'holdfast_network_transitions_total{to="offline"}': grows([[10, 0], [1500, 300]]),
      'holdfast_network_transitions_total{to="degraded"}': grows([[50, 0], [1440, 240]]),
      holdfast_upstream_throttled_total: grows([[50, 0], [1440, 480]]),
      holdfast_upstream_bans_total: stands([[700, 0], [1, 1]]),
      'holdfast_upstream_requests_total{operation="sync",result="5xx"}': grows([[290, 0], [1440, 240]]),
      'holdfast_backups_total{reason="hardConflict",outcome="failed"}': grows([[1440, 180]]),
    }),
    day(
      'A night of outage, before which the line comes and goes, and after which the server takes little at a time',
      840,
      { UpstreamDown: [60, 600] },
      nothingSynced(600) + {
        'holdfast_network_state{state="offline"}': stands([[45, 0], [6, 1], [3, 0], [546, 1], [1, 0]]),
        'holdfast_network_state{state="degraded"}': '0x599 ' + again('1 0 0', 30) + ' 0x300',
        'holdfast_network_transitions_total{to="offline"}': stands([[45, 0], [9, 1], [1, 2]]),
        'holdfast_network_transitions_total{to="degraded"}': grows([[600, 0], [90, 3]]),
        'holdfast_network_transitions_total{to="online"}': grows([[601, 0], [90, 3]]),
        holdfast_upstream_throttled_total: grows([[600, 0], [90, 3]]),
        'holdfast_pending_changes{type="update",state="ready"}': '0x119 90x479 89-1x88 0x300',
        holdfast_pending_oldest_timestamp_seconds: '0x119 7200x479 7260+60x88 0x300',
        holdfast_pending_deliverable_changes: '0x599 89-1x88 0x300',
        holdfast_pending_deliverable_oldest_timestamp_seconds: '0x599 7260+60x88 0x300',
        'holdfast_resolutions_total{type="update",outcome="pushed"}': grows([[600, 0], [90, 1]]),
      }
    ),
    day('The server refuses syncs, and nothing is pending', 840, { SyncStale: [280, 600] }, nothingSynced(600)),
    day('The server refuses syncs of an open vault, beside ten locked ones that it lets through', 840, { SyncStale: [280, 600] }, nothingSynced(600) + {
      'holdfast_accounts{status="locked"}': stands([[1, 10]]),
      'holdfast_accounts{status="unlocked"}': stands([[1, 1]]),
      'holdfast_sync_runs_total{outcome="notNeeded"}': grows([[840, 3]]),
    }),
    day('No token is taken, and nobody is signed out for that', 840, { SyncStale: [280, 600] }, nothingSynced(600) + {
      'holdfast_sync_aborts_total{reason="auth"}': grows([[60, 0], [540, 15]]),
    }),
    day('No sync ever succeeded, the clock having begun with that day', 360, { SyncStale: [250, 999] }, {
      holdfast_sync_last_success_timestamp_seconds: nothing,
      'holdfast_sync_runs_total{outcome="failed"}': grows([[360, 15]]),
      'holdfast_sync_runs_total{outcome="notNeeded"}': nothing,
    }),
    day('What answers is no sync answer', 600, { SyncRefused: [70, 999] }, nothingSynced(660) + {
      'holdfast_sync_aborts_total{reason="decode"}': grows([[60, 0], [600, 15]]),
    }),
    day('A password is changed elsewhere, and its owner signs in again within minutes', 360, {}, {
      'holdfast_accounts{status="signedOut"}': stands([[110, 0], [5, 1], [1, 0]]),
      'holdfast_sync_runs_total{outcome="failed"}': stands([[110, 0], [1, 2]]),
      'holdfast_sync_aborts_total{reason="auth"}': stands([[110, 0], [1, 2]]),
    }),
    day('All vaults are locked, and nothing is asked for a day', 1440, {}, {
      'holdfast_accounts{status="locked"}': stands([[1, 2]]),
      'holdfast_accounts{status="unlocked"}': nothing,
      holdfast_sync_last_success_timestamp_seconds: stands([[1, 60]]),
      'holdfast_sync_runs_total{outcome="notNeeded"}': nothing,
    }),
    day('One of many accounts is signed out, and a sync of others fails now and then', 1440, { AccountSignedOut: [20, 9999] }, {
      'holdfast_accounts{status="signedOut"}': stands([[1, 1]]),
      'holdfast_accounts{status="unlocked"}': stands([[1, 900]]),
      holdfast_sync_last_success_timestamp_seconds: stands([[1, 60]]),
      'holdfast_sync_runs_total{outcome="notNeeded"}': '0+30x1440',
      'holdfast_sync_runs_total{outcome="failed"}': grows([[1440, 20]]),
    }),
    day(
      'Edits wait in a vault that nobody unlocks, while others go from an open one',
      1800,
      { PendingLocked: [1565, 9999] },
      {
        'holdfast_accounts{status="locked"}': stands([[1, 1]]),
        'holdfast_accounts{status="unlocked"}': stands([[1, 1]]),
        'holdfast_pending_changes{type="update",state="ready"}': '0x59 ' + again('3x29 4x29', 30),
        holdfast_pending_oldest_timestamp_seconds: stands([[60, 0], [1, 3600]]),
        holdfast_pending_locked_oldest_timestamp_seconds: stands([[60, 0], [1, 3600]]),
        holdfast_pending_deliverable_changes: '0x59 ' + again('0x29 1x29', 30),
        'holdfast_resolutions_total{type="update",outcome="pushed"}': '0+1x1800',
      }
    ),
    day('A change was set aside long ago, and a locked vault has another one, of late', 1800, { QuarantineNonEmpty: [15, 9999] }, {
      'holdfast_accounts{status="locked"}': stands([[1, 1]]),
      'holdfast_accounts{status="unlocked"}': stands([[1, 1]]),
      'holdfast_pending_changes{type="update",state="quarantined"}': stands([[1, 1]]),
      'holdfast_pending_changes{type="update",state="ready"}': stands([[1440, 0], [1, 1]]),
      holdfast_pending_oldest_timestamp_seconds: stands([[1, 60]]),
      holdfast_pending_locked_oldest_timestamp_seconds: stands([[1440, 0], [1, 86400]]),
    }),
    day(
      'Edits wait in a locked vault, beside an upstream that is gone for good',
      1800,
      { UpstreamDown: [5, 9999], PendingLocked: [1565, 9999] },
      {
        'holdfast_accounts{status="locked"}': stands([[1, 1]]),
        'holdfast_accounts{status="unlocked"}': stands([[1, 1]]),
        'holdfast_pending_changes{type="update",state="ready"}': stands([[60, 0], [1, 3]]),
        holdfast_pending_oldest_timestamp_seconds: stands([[60, 0], [1, 3600]]),
        holdfast_pending_locked_oldest_timestamp_seconds: stands([[60, 0], [1, 3600]]),
        holdfast_sync_last_success_timestamp_seconds: nothing,
        'holdfast_sync_runs_total{outcome="failed"}': asked,
        'holdfast_network_state{state="offline"}': stands([[1, 1]]),
      }
    ),
    day('A single call is lost every few minutes', 360, {}, {
      'holdfast_network_state{state="offline"}': again('0x28 1', 12),
      'holdfast_network_transitions_total{to="offline"}': grows([[360, 6]]),
    }),
    day('The upstream is away for four minutes of every twenty, and figures come in between the looks', 360, {}, {
      'holdfast_network_state{state="offline"}': again('_ 0x3 1x3 0 _ 0x8', 18),
      'holdfast_network_transitions_total{to="offline"}':
        std.join(' ', ['_ %dx3 %dx4 _ %dx8' % [count, count + 1, count + 1] for count in std.range(0, 18)]),
    }),
    day(
      'Edits cannot be sent from an open vault, beside a locked one',
      1800,
      { ResolverWedged: [120, 9999], PendingTooOld: [455, 9999] },
      {
        'holdfast_accounts{status="locked"}': stands([[1, 1]]),
        'holdfast_accounts{status="unlocked"}': stands([[1, 1]]),
        'holdfast_pending_changes{type="update",state="ready"}': stands([[60, 0], [1, 3]]),
        holdfast_pending_oldest_timestamp_seconds: stands([[60, 0], [1, 3600]]),
        holdfast_pending_deliverable_changes: stands([[60, 0], [1, 3]]),
        holdfast_pending_deliverable_oldest_timestamp_seconds: stands([[60, 0], [1, 3600]]),
      }
    ),
    day('Edits wait in a locked vault whose upstream is away for days, and calls to another are lost', 1800, { UpstreamDown: [66, 9999] }, nothingSynced(2460) + {
      'holdfast_accounts{status="locked"}': stands([[1, 2]]),
      'holdfast_accounts{status="unlocked"}': nothing,
      'holdfast_pending_changes{type="update",state="ready"}': stands([[60, 0], [1, 3]]),
      holdfast_pending_oldest_timestamp_seconds: stands([[60, 0], [1, 3600]]),
      'holdfast_network_state{state="offline"}': stands([[60, 0], [1, 1]]),
      'holdfast_network_transitions_total{to="offline"}': grows([[60, 0], [1740, 10]]),
    }),
    day('An account is signed out, and its edits are kept; a locked one has none', 1800, { AccountSignedOut: [76, 9999] }, {
      'holdfast_accounts{status="locked"}': stands([[1, 1]]),
      'holdfast_accounts{status="unlocked"}': stands([[60, 1], [1, 0]]),
      'holdfast_accounts{status="signedOut"}': stands([[60, 0], [1, 1]]),
      holdfast_sync_last_success_timestamp_seconds: stands([[1, 60]]),
      'holdfast_sync_runs_total{outcome="failed"}': grows([[60, 0], [1740, 30]]),
      'holdfast_sync_aborts_total{reason="auth"}': grows([[60, 0], [1740, 30]]),
      'holdfast_pending_changes{type="update",state="ready"}': stands([[60, 0], [1, 3]]),
      holdfast_pending_oldest_timestamp_seconds: stands([[60, 0], [1, 3600]]),
    }),
    day("A guard's page answers, and is looked at every half hour", 720, { UpstreamBanned: [80, 480] }, nothingSynced(480) + {
      'holdfast_network_state{state="offline"}': stands([[60, 0], [420, 1], [1, 0]]),
      'holdfast_network_transitions_total{to="offline"}': stands([[60, 0], [1, 1]]),
      'holdfast_network_transitions_total{to="online"}': stands([[480, 0], [1, 1]]),
      holdfast_upstream_bans_total: grows([[60, 0], [420, 30]]),
    }),
    day(
      'The server asks to be left alone for an hour, again and again, and fails once',
      720,
      { UpstreamBanned: [80, 480] },
      nothingSynced(480) + {
        'holdfast_network_state{state="degraded"}': stands([[60, 0], [420, 1], [1, 0]]),
        'holdfast_network_transitions_total{to="degraded"}': stands([[60, 0], [1, 1]]),
        holdfast_upstream_throttled_total: grows([[60, 0], [420, 70]]),
        'holdfast_upstream_requests_total{operation="sync",result="5xx"}': stands([[395, 0], [1, 1]]),
        'holdfast_upstream_requests_total{operation="hub",result="5xx"}': '0x59 0+1x419 419x300',
      }
    ),
    day('The server fails for hours, and asks for patience once', 720, { UpstreamDegraded: [95, 480] }, nothingSynced(480) + {
      'holdfast_network_state{state="degraded"}': stands([[60, 0], [420, 1], [1, 0]]),
      'holdfast_network_transitions_total{to="degraded"}': stands([[60, 0], [1, 1]]),
      holdfast_upstream_throttled_total: stands([[210, 0], [1, 1]]),
      'holdfast_upstream_requests_total{operation="sync",result="5xx"}': grows([[60, 0], [150, 15], [15, 0], [255, 15]]),
    }),
    day('The upstream is away for four minutes of every five', 360, { UpstreamFlapping: [115, 265] }, {
      'holdfast_network_state{state="offline"}': '0x59 %s 0x300' % again('1x3 0', 36),
      'holdfast_network_transitions_total{to="offline"}': grows([[60, 0], [180, 5]]),
      'holdfast_network_transitions_total{to="online"}': grows([[64, 0], [180, 5]]),
    }, '1m'),
    day('The server fails for four minutes of every five', 360, { UpstreamFlapping: [115, 265] }, {
      'holdfast_network_state{state="degraded"}': '0x59 %s 0x300' % again('1x3 0', 36),
      'holdfast_network_transitions_total{to="degraded"}': grows([[60, 0], [180, 5]]),
      'holdfast_network_transitions_total{to="online"}': grows([[64, 0], [180, 5]]),
      'holdfast_upstream_requests_total{operation="sync",result="5xx"}': grows([[60, 0], [180, 5]]),
    }, '1m'),
    day('Copies fail for hours, and each is tried again after a quarter of an hour', 720, { BackupFailed: [95, 530] }, {
      'holdfast_backups_total{reason="hardConflict",outcome="failed"}': grows([[70, 0], [435, 15]]),
    }),
    day(
      'The copy that a single conflict needs is refused, and refused again',
      360,
      { BackupFailed: [115, 150], QuarantineNonEmpty: [115, 9999] },
      {
        'holdfast_backups_total{reason="hardConflict",outcome="failed"}': stands([[100, 0], [2, 1], [1, 2]]),
        'holdfast_pending_changes{type="update",state="quarantined"}': stands([[102, 0], [1, 1]]),
      }
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
    ['alerts-days-%s.json' % every]: $.told(file, every, [day for day in $.days if day.step == every])
    for every in ['1m', '10m']
  } + {
    ['alerts-%s.json' % every]: $.proofs(file, every, [alert for alert in $.alerts if step(alert) == every])
    for every in ['1m', '5m', '10m']
  },

  told(file, step, days):: {
    rule_files: [file],
    evaluation_interval: step,
    group_eval_order: ['holdfast.figures', 'holdfast.alerts'],
    tests: [
      {
        name: day.name,
        interval: '1m',
        input_series: [
          {
            local parts = std.split(name, '{'),
            series: '%s{%s%s' % [parts[0], own, if std.length(parts) > 1 then ',' + parts[1] else '}'],
            values: day.figures[name],
          }
          for name in std.objectFields(day.figures)
        ],
        promql_expr_test: [
          {
            // Else it would not be told which day it was.
            expr: 'count by (alertname) (ALERTS{alertstate="firing"}) # ' + day.name,
            eval_time: '%dh' % hour,
            exp_samples: [
              { labels: '{alertname="Holdfast%s"}' % name, value: 1 }
              for name in std.objectFields(day.tells)
              if day.tells[name][0] <= hour * 60 && hour * 60 < day.tells[name][1]
            ],
          }
          for hour in std.range(1, day.lasts / 60)
        ],
      }
      for day in days
    ],
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
