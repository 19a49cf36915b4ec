/** The OpenAPI documents of aggregated servers. This server merges them into its own documents. */
import type { JsonObject } from '../../../api/json/json.ts'

/** The paths and types in an aggregated server's OpenAPI document. */
export interface PublishedParts {
  readonly paths: readonly (readonly [name: string, value: JsonObject])[]
  readonly types: readonly (readonly [name: string, value: JsonObject])[]
}

/** All OpenAPI documents of aggregated servers. */
export interface AggregatedDocuments {
  /** The OpenAPI v2 documents. The array is replaced only if their content changes. */
  readonly documents: readonly PublishedParts[]
  /** The OpenAPI v3 documents that aggregated servers serve. */
  readonly v3: readonly { readonly place: string; readonly hash: string }[]
}
