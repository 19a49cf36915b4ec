/** Kinds that the client can encode in Protobuf. In the bundle they come from a table: see scripts/bundle.mjs. */
import { allKinds } from '../../api/kinds/all.ts'
import type { WireKind } from './schema-table.ts'

export const protobufKinds: readonly WireKind[] = allKinds
