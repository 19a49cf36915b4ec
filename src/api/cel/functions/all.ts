/**
 * All functions that rules can call: the standard functions of CEL and the functions that Kubernetes adds, with the
 * version that introduced each of them.
 */
import { type Functions, joinTables } from '../overload.ts'
import { authorization } from './authorization.ts'
import { collections } from './collections.ts'
import { conversions } from './conversions.ts'
import { namedFormats } from './formats.ts'
import { jsonPatches } from './json-patches.ts'
import { lists } from './lists.ts'
import { networks } from './networks.ts'
import { operators } from './operators.ts'
import { patterns } from './patterns.ts'
import { quantities } from './quantities.ts'
import { strings } from './strings.ts'
import { textFormat } from './text-format.ts'
import { times } from './times.ts'
import { urls } from './urls.ts'

export const functions: Functions = joinTables([
  operators,
  conversions,
  strings,
  patterns,
  lists,
  times,
  urls,
  quantities,
  networks,
  collections,
  namedFormats,
  textFormat,
  authorization,
  jsonPatches,
])
