/** Shows which admission controls and webhooks handled a write, their duration, response and changes. */
import type { Admission } from '../core/edit.ts'
import { displayText } from '../core/text.ts'
import { Notice } from './display.tsx'
import { PlainTable } from './plain-table.tsx'

interface AdmissionTraceProps {
  readonly admission: Admission
  readonly isOpen?: boolean
}

export function AdmissionTrace({ admission, isOpen = false }: AdmissionTraceProps) {
  const { looks, changes, refusedBy, warnings } = admission
  const changed = (control: string) => changes.find((each) => each.control === control)?.fields ?? []
  return (
    <>
      {warnings.map((warning) => (
        <Notice key={warning} tone="warn" title={displayText(warning, 1000)} />
      ))}
      {refusedBy !== '' && <Notice tone="bad" title={`Refused by ${displayText(refusedBy, 200)}`} />}
      {looks.length > 0 && (
        <details class="trace" open={isOpen}>
          <summary>Admission: {looks.length} looked at it</summary>
          <PlainTable
            label="Who looked at it"
            columns={['Control', 'Step', 'Time', 'Said, changed']}
            rows={looks.map(({ control = '', webhook = '', step = '', ms = 0, said = '' }, i) => {
              const fields = step === 'mutate' ? changed(control).map((field) => displayText(field, 100)) : []
              return {
                key: `${i} ${control} ${webhook}`,
                cells: [
                  `${displayText(control, 100)}${webhook === '' ? '' : ` · ${displayText(webhook, 100)}`}`,
                  displayText(step, 30),
                  <span class="number">{ms.toFixed(2)} ms</span>,
                  `${displayText(said, 300)} ${fields.join(', ')}`.trim() || undefined,
                ],
              }
            })}
          />
        </details>
      )}
    </>
  )
}
