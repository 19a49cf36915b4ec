/**
 * Reads the metrics that `--metrics-url` names, at regular intervals. The same rules apply as for all servers that
 * flags name: HTTPS only, no redirects, and limited time and size. If the URL fails for a while, its metrics are
 * removed, so that autoscalers do not act on old values.
 */

import type { Vendor } from '../../api/model/vendor.ts'
import { type MetricsFile, noMetrics, readMetricsFile } from '../../apiserver/file-metrics/metrics-file.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { TimerClock } from '../../base/time/clock.ts'
import { getJson } from '../identity/openid-connect.ts'

/** Interval between two requests in milliseconds. */
const intervalMs = 15_000
/** How long metrics remain after the last successful request, in milliseconds. */
const maxAgeMs = 60_000

export interface MetricsUrlParts {
  readonly url: string
  /** The CA certificates in PEM format. Undefined for the public CAs. */
  readonly authority: string | undefined
  readonly vendor: Vendor
  readonly clock: TimerClock
  readonly log: Log
  /** Called with the metrics of each successful request, and when old metrics are removed. */
  readonly replace: (metrics: MetricsFile) => void
}

/** Starts reading. Returns a function that stops it. */
export function followMetricsUrl({ url, authority, vendor, clock, log, replace }: MetricsUrlParts): () => void {
  let isStopped = false
  let lastSuccess = clock.now()
  let cancel = () => {}
  const readOnce = async () => {
    try {
      const metrics = readMetricsFile(await getJson(url, authority), vendor)
      if (isStopped) return
      lastSuccess = clock.now()
      replace(metrics)
    } catch (error) {
      if (isStopped) return
      log.warn('cannot read the metrics of --metrics-url; will retry', errorFields(error))
      if (clock.now() - lastSuccess >= maxAgeMs) replace(noMetrics)
    }
    cancel = clock.after(intervalMs, () => void readOnce())
  }
  void readOnce()
  return () => {
    isStopped = true
    cancel()
  }
}
