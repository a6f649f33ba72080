/** Whether everything is well and, if not, each concern; and what is over. */
export function Verdict(props: {
  readonly concerns: readonly string[]
  readonly past: readonly string[]
}) {
  const { concerns, past } = props
  return (
    <div class={`verdict ${concerns.length === 0 ? 'well' : 'ill'}`} role="status">
      {concerns.length === 0 ? (
        <>
          <span aria-hidden="true">✓ </span>Everything is well.
        </>
      ) : (
        <>
          <span aria-hidden="true">✕ </span>
          {concerns.length === 1 ? 'One thing needs' : `${concerns.length} things need`} attention.
          <Sentences list={concerns} />
        </>
      )}
      {past.length > 0 && (
        <div class="past">
          Over since:
          <Sentences list={past} />
        </div>
      )}
    </div>
  )
}

function Sentences({ list }: { readonly list: readonly string[] }) {
  return (
    <ul class="problems">
      {list.map((each) => (
        <li>{each}</li>
      ))}
    </ul>
  )
}
