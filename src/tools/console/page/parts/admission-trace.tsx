/** Shows which admission plugins and webhooks handled a write, with their durations, responses and changes. */
import type { Admission, PolicyLook } from '../core/edit.ts'
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
      {refusedBy !== '' && <Notice tone="bad" title={`Rejected by ${displayText(refusedBy, 200)}`} />}
      {looks.length > 0 && (
        <details class="trace" open={isOpen}>
          <summary>Admission: {looks.length} steps</summary>
          <PlainTable
            label="Admission steps"
            columns={['Control', 'Step', 'Time', 'Result']}
            rows={looks.map(({ control = '', webhook = '', step = '', ms = 0, said = '', policy }, i) => {
              const fields =
                step === 'mutate' && policy === undefined
                  ? changed(control).map((field) => displayText(field, 100))
                  : []
              return {
                key: `${i} ${control} ${webhook}`,
                cells: [
                  `${displayText(control, 100)}${webhook === '' ? '' : ` · ${displayText(webhook, 100)}`}`,
                  displayText(step, 30),
                  <span class="number">{ms.toFixed(2)} ms</span>,
                  policy === undefined ? (
                    `${displayText(said, 300)} ${fields.join(', ')}`.trim() || undefined
                  ) : (
                    <PolicyCell said={said} policy={policy} />
                  ),
                ],
              }
            })}
          />
        </details>
      )}
    </>
  )
}

/** Shows the evaluation of a policy: its result, the expression that decided it, and the values of its variables. */
function PolicyCell({ said, policy }: { readonly said: string; readonly policy: PolicyLook }) {
  const { name = '', binding = '', params = '', expression, variables = {} } = policy
  const parameters = params === '' ? '' : `, parameters ${displayText(params, 200)}`
  return (
    <>
      <div>
        Policy {displayText(name, 200)}, binding {displayText(binding, 200)}
        {parameters}: {displayText(said, 300)}
      </div>
      {expression !== undefined && <code>{displayText(expression, 300)}</code>}
      {Object.entries(variables).map(([variable, value]) => (
        <div key={variable}>
          <code>
            variables.{displayText(variable, 100)} = {displayText(value, 250)}
          </code>
        </div>
      ))}
    </>
  )
}
