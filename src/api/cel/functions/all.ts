/** All functions of rules: the functions of the language and the additions of Kubernetes 1.25. */
import type { Functions } from '../overload.ts'
import { conversions } from './conversions.ts'
import { lists } from './lists.ts'
import { operators } from './operators.ts'
import { patterns } from './patterns.ts'
import { strings } from './strings.ts'
import { times } from './times.ts'
import { urls } from './urls.ts'

export const functions: Functions = new Map([
  ...operators,
  ...conversions,
  ...strings,
  ...patterns,
  ...lists,
  ...times,
  ...urls,
])
