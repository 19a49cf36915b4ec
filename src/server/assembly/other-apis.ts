/**
 * Opens the APIs that are served outside of the catalogue: those of aggregated servers, and metrics from
 * `--metrics-file`.
 */

import type { Aggregation } from '../../apiserver/aggregation/aggregation.ts'
import { FileMetrics, type FileMetricsParts } from '../../apiserver/file-metrics/file-metrics.ts'
import { readMetricsFile } from '../../apiserver/file-metrics/metrics-file.ts'
import type { Routes } from '../../apiserver/http/dispatch.ts'
import type { AggregatedVersions } from '../../apiserver/http/paths/discovery-groups.ts'
import { systemClock } from '../../base/time/clock.ts'
import { loadDocumentReader } from '../flags/configuration-document.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { Reloading } from '../flags/reloading.ts'
import { type AggregationContext, type AggregationDependencies, startAggregation } from './aggregation.ts'

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
  { metricsFile }: ServerOptions,
  dependencies: OtherApiDependencies,
  context: AggregationContext,
): Promise<OtherApis> {
  const aggregation = await startAggregation(dependencies, context)
  const { backends } = aggregation
  if (metricsFile === '')
    return { aggregation, aggregated: backends, handleOtherApi: aggregation.handle.bind(aggregation) }
  const metrics = await openFileMetrics(metricsFile, { ...dependencies, ...context, aggregated: backends })
  return {
    aggregation,
    aggregated: metrics,
    handleOtherApi: (exchange, info) => aggregation.handle(exchange, info) || metrics.handle(exchange, info),
  }
}

const flagName = 'metrics-file'

interface FileMetricsDependencies
  extends Omit<FileMetricsParts, 'clock'>,
    Pick<OtherApiDependencies, 'reloading'>,
    Pick<AggregationContext, 'opened'> {}

async function openFileMetrics(
  file: string,
  { catalogue, lookup, aggregated, reloading, opened }: FileMetricsDependencies,
): Promise<FileMetrics> {
  const readDocument = await loadDocumentReader()
  const read = () => readDocument(flagName, file, (document) => readMetricsFile(document, catalogue.vendor))
  opened.defer(reloading.follow(flagName, [file], () => metrics.replace(read())))
  const metrics = new FileMetrics(read(), { catalogue, lookup, clock: systemClock, aggregated })
  return metrics
}
