/** Shows changed fields with their old and new values and their owners. */
import { stringifyYaml } from '../../../../api/codec/write-yaml.ts'
import type { Json } from '../../../../api/json/json.ts'
import { type FieldChange, pathText } from '../core/fields.ts'
import type { Owner } from '../core/ownership.ts'
import { displayText, shownLines } from '../core/text.ts'
import { OwnerChip } from './display.tsx'

interface ChangeTableProps {
  readonly changes: readonly FieldChange[]
  readonly ownersOf?: (change: FieldChange) => readonly Owner[]
  readonly isHidden?: (change: FieldChange) => boolean
}

export function ChangeTable({ changes, ownersOf = () => [], isHidden = () => false }: ChangeTableProps) {
  if (changes.length === 0) return <p class="hint">Nothing changes.</p>
  return (
    <ul class="changes" aria-label="Changes">
      {changes.map((change) => (
        <li key={pathText(change.path)}>
          <div class="change-head">
            <code>{displayText(pathText(change.path), 300)}</code>
            {ownersOf(change).map((owner) => (
              <OwnerChip key={`${owner.manager} ${owner.operation}`} owner={owner} />
            ))}
          </div>
          <Value sign="-" value={change.before} isHidden={isHidden(change)} />
          <Value sign="+" value={change.after} isHidden={isHidden(change)} />
        </li>
      ))}
    </ul>
  )
}

interface ValueProps {
  readonly sign: '-' | '+'
  readonly value: Json | undefined
  readonly isHidden: boolean
}

function Value({ sign, value, isHidden }: ValueProps) {
  if (value === undefined) return null
  const text = isHidden ? '••••••••' : shownLines(stringifyYaml(value).trimEnd(), 5_000)
  return (
    <pre class={sign === '-' ? 'removed' : 'added'}>
      <span class="sr-only">{sign === '-' ? 'before: ' : 'after: '}</span>
      {text}
    </pre>
  )
}
