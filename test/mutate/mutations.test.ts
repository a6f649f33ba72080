import { describe, expect, it } from 'vitest'
import { applyMutation, lineOf, mutationsOf } from './mutations.ts'

function mutantsOf(text: string): string[] {
  return mutationsOf(text).map((mutation) => applyMutation(text, mutation))
}

describe('mutations', () => {
  it('change operators, conditions, literals and calls', () => {
    expect(mutantsOf('f(a < 1 ? b : !c)')).toEqual([
      ';',
      'f(true ? b : !c)',
      'f(false ? b : !c)',
      'f(a <= 1 ? b : !c)',
      'f(a < 2 ? b : !c)',
      'f(a < 1 ? b : c)',
    ])
    expect(mutantsOf("x = { on: true, name: 'a' }")).toContain("x = { name: 'a' }")
    expect(mutantsOf('y = list.filter(isOpen).some(isOld)')).toEqual(
      expect.arrayContaining(['y = list.some(isOld)', 'y = list.filter(isOpen).every(isOld)']),
    )
    expect(mutantsOf('z = a ?? b')).toContain('z = a')
  })

  it('leave types, imports, names and sentences alone', () => {
    const text = [
      "import { a } from './a.ts'",
      "type B = 'one' | 'two'",
      "export const c = { 'd-e': 'a sentence for people' as B }",
    ].join('\n')
    expect(mutationsOf(text).map(({ what }) => what)).toEqual([
      "property 'd-e': 'a sentence for people' removed",
    ])
  })

  it('keep the parentheses of a side', () => {
    expect(mutantsOf('x = (a + 1) * b')).toContain('x = (a + 1) / b')
  })

  it('depend on a condition, and change nothing without it', () => {
    const guardedOf = (text: string) =>
      mutationsOf(text).flatMap((mutation) => {
        const edit = mutation.guarded?.('on')
        return edit === undefined ? [] : [applyMutation(text, edit)]
      })
    expect(guardedOf('f(a < 1)')).toContain('f((on ? (a <= 1) : (a < 1)))')
    expect(guardedOf('f(a)')).toEqual(['{ if (!on) { f(a) } }'])
    expect(guardedOf('x = list\n  .some(isOld)')).toContain(
      "x = list\n  [on ? 'every' : 'some'](isOld)",
    )
    expect(guardedOf('x = list?.some(isOld)')).toContain("x = list?.[on ? 'every' : 'some'](isOld)")
    expect(guardedOf('x = { a: 1, b }')).toContain('x = { ...(on ? {} : { a: 1 }), b }')
    // A spread would read a getter at once, and parentheses would end a chain too early.
    expect(guardedOf('const x = { get a() { return b() } }')).toEqual([])
    expect(guardedOf('const x = a?.b.filter(c).d')).toEqual([])
    expect(guardedOf('const x = a?.b.filter(c)')).toHaveLength(1)
  })

  it('report whether they act while the module loads', () => {
    const atLoad = (text: string) => mutationsOf(text).map((mutation) => mutation.atLoad)
    expect(atLoad('const x = 1')).toEqual([true])
    expect(atLoad('const f = () => 1')).toEqual([false])
    expect(atLoad('function f() { return 1 }')).toEqual([false])
    expect(atLoad('class A { b() { return 1 } }')).toEqual([false])
    expect(atLoad('class A { b = 1; static c = 2 }')).toEqual([false, true])
    expect(atLoad('const x = f(() => 1, 2)')).toEqual([false, true])
  })

  it('report their line', () => {
    const text = 'a()\n\nb(true)\n'
    expect(mutationsOf(text).map((mutation) => lineOf(text, mutation))).toEqual([1, 3, 3])
  })
})
