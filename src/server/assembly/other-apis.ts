/**
 * Opens the APIs that are served outside of the catalogue: those of aggregated servers, and metrics from
 * `--metrics-file` or `--metrics-url`.
 */

import type { Aggregation } from '../../apiserver/aggregation/aggregation.ts'
import { FileMetrics, type FileMetricsParts } from '../../apiserver/file-metrics/file-metrics.ts'
import { type MetricsFile, noMetrics, readMetricsFile } from '../../apiserver/file-metrics/metrics-file.ts'
import type { Routes } from '../../apiserver/http/dispatch.ts'
import type { AggregatedVersions } from '../../apiserver/http/paths/discovery-groups.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { systemClock } from '../../base/time/clock.ts'
import { readAuthorities } from '../certificates/client-authorities.ts'
import { loadDocumentReader } from '../flags/configuration-document.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'
import { type AggregationContext, type AggregationDependencies, startAggregation } from './aggregation.ts'
import { followMetricsUrl } from './metrics-url.ts'

interface OtherApiDependencies extends AggregationDependencies {
  readonly reloading: Reloading
}

/** APIs that are served outside of the catalogue. */
export interface OtherApis extends Pick<Routes, 'handleOtherApi'> {
  readonly aggregation: Aggregation
  /** Group versions to add to discovery. */
  readonly aggregated: AggregatedVersions
}

/** Starts API aggregation and reads the metrics file. Throws UsageError if the file is invalid. */
export async function openOtherApis(
  options: ServerOptions,
  dependencies: OtherApiDependencies,
  context: AggregationContext,
): Promise<OtherApis> {
  const aggregation = await startAggregation(dependencies, context)
  const { backends } = aggregation
  if (options.metricsCaFile !== '' && options.metricsUrl === '')
    throw new UsageError('--metrics-ca-file requires --metrics-url')
  if (options.metricsFile === '' && options.metricsUrl === '')
    return { aggregation, aggregated: backends, handleOtherApi: aggregation.handle.bind(aggregation) }
  const metrics = await openFileMetrics(options, { ...dependencies, ...context, aggregated: backends })
  return {
    aggregation,
    aggregated: metrics,
    handleOtherApi: (exchange, info) => aggregation.handle(exchange, info) || metrics.handle(exchange, info),
  }
}

const flagName = 'metrics-file'

interface FileMetricsDependencies
  extends Omit<FileMetricsParts, 'clock'>,
    Pick<OtherApiDependencies, 'reloading' | 'loopRecords'>,
    Pick<AggregationContext, 'opened'> {}

async function openFileMetrics(
  { metricsFile: file, metricsUrl: url, metricsCaFile }: ServerOptions,
  { catalogue, lookup, aggregated, reloading, opened, loopRecords }: FileMetricsDependencies,
): Promise<FileMetrics> {
  const parts = { catalogue, lookup, clock: systemClock, aggregated }
  if (url !== '') {
    if (file !== '') throw new UsageError('--metrics-url cannot be combined with --metrics-file')
    const metrics = new FileMetrics(noMetrics, parts)
    const authority = metricsCaFile === '' ? undefined : readAuthorities('metrics-ca-file', metricsCaFile).join('')
    const replace = (content: MetricsFile) => metrics.replace(content)
    const { vendor } = catalogue
    const { log } = loopRecords
    opened.defer(followMetricsUrl({ url, authority, vendor, clock: systemClock, log, replace }))
    return metrics
  }
  const readDocument = await loadDocumentReader()
  const read = () => readDocument(flagName, file, (document) => readMetricsFile(document, catalogue.vendor))
  opened.defer(reloading.follow(flagName, [file], () => metrics.replace(read())))
  const metrics = new FileMetrics(read(), parts)
  return metrics
}
