/** Which admission controls and webhooks looked at a write, for how long, what they said and what they changed. */
import type { Admission } from '../core/edit.ts'
import { shown } from '../core/text.ts'
import { Notice, Scrolling } from './shown.tsx'

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
        <Notice key={warning} tone="warn" title={shown(warning, 1000)} />
      ))}
      {refusedBy !== '' && <Notice tone="bad" title={`Refused by ${shown(refusedBy, 200)}`} />}
      {looks.length > 0 && (
        <details class="trace" open={isOpen}>
          <summary>Admission: {looks.length} looked at it</summary>
          <Scrolling label="Who looked at it">
            <table class="plain-table">
              <thead>
                <tr>
                  <th scope="col">Control</th>
                  <th scope="col">Step</th>
                  <th scope="col">Time</th>
                  <th scope="col">Said, changed</th>
                </tr>
              </thead>
              <tbody>
                {looks.map(({ control = '', webhook = '', step = '', ms = 0, said = '' }, i) => (
                  <tr key={`${i} ${control} ${webhook}`}>
                    <td>
                      {shown(control, 100)}
                      {webhook !== '' && ` · ${shown(webhook, 100)}`}
                    </td>
                    <td>{shown(step, 30)}</td>
                    <td class="number">{ms.toFixed(2)} ms</td>
                    <td>
                      {shown(said, 300)}{' '}
                      {step === 'mutate' &&
                        changed(control)
                          .map((field) => shown(field, 100))
                          .join(', ')}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scrolling>
        </details>
      )}
    </>
  )
}
