/**
 * The kinds that the client can encode in Protobuf. In the bundle, a table of their schemas replaces this file
 * (scripts/bundle.mjs).
 */
import { allKinds } from '../../api/kinds/all.ts'
import type { WireKind } from './schema-table.ts'

export const protobufKinds: readonly WireKind[] = allKinds
