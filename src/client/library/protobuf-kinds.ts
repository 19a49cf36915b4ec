/**
 * The kinds that the client can encode in Protobuf. The bundle contains a table of their schemas instead. See
 * scripts/bundle.mjs.
 */
import { allKinds } from '../../api/kinds/all.ts'
import type { WireKind } from './schema-table.ts'

export const protobufKinds: readonly WireKind[] = allKinds
