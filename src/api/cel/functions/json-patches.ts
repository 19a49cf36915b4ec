/** The function `jsonpatch.escapeKey`, which escapes a key for use in a JSON Patch path. */
import { define, type Functions } from '../overload.ts'
import { traversal } from '../size.ts'

export const jsonPatches: Functions = new Map([
  [
    'jsonpatch.escapeKey',
    [
      {
        ...define(
          '(string) string',
          ({ budget }, [key]) => {
            budget.allocate(2 * (key as string).length)
            return (key as string).replaceAll('~', '~0').replaceAll('/', '~1')
          },
          { actual: ([key]) => traversal((key as string).length) },
        ),
        forMutations: true,
      },
    ],
  ],
])
