/** The kinds whose Protobuf form the client knows. In the bundle they come from a table: scripts/bundle.mjs. */
import { allKinds } from '../../api/kinds/all.ts'
import type { WireKind } from './schema-table.ts'

export const protobufKinds: readonly WireKind[] = allKinds
