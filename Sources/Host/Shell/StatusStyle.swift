extension StatusPage {
    static let style = """
        :root { color-scheme: light dark; --ink: #1d2330; --faint: #5a6375; --paper: #f7f7f5;
        --card: #fff; --edge: #dcdfe6; --well: #17663a; --care: #8a5200; --bad: #a61b1b }
        @media (prefers-color-scheme: dark) { :root { --ink: #e7e9ee; --faint: #a3abba;
        --paper: #14171d; --card: #1d2129; --edge: #333a46; --well: #7fd6a2; --care: #f0b65c;
        --bad: #ff9c94 } }
        * { box-sizing: border-box }
        body { margin: 0 auto; padding: 1.25rem; max-width: 56rem; background: var(--paper);
        color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
        header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem }
        h1 { margin: 0; font-size: 1.4rem }
        h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; color: var(--faint); font-weight: 600 }
        h3 { margin: 0; font-size: 1.05rem }
        h4 { margin: .9rem 0 .2rem; font-size: .9rem; color: var(--faint); font-weight: 600 }
        p { margin: .2rem 0 }
        #line { color: var(--faint) }
        #list { display: grid; gap: .75rem;
        grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)) }
        article { padding: .9rem 1rem; background: var(--card); border: 1px solid var(--edge);
        border-radius: .6rem; min-width: 0 }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .9rem; margin: .5rem 0 0 }
        dt { color: var(--faint) }
        dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
        ul { margin: 0; padding-left: 1.1rem }
        .well { color: var(--well) } .care { color: var(--care) } .bad { color: var(--bad) }
        .mark::before { content: "● "; }
        .skip { position: absolute; left: -99rem }
        .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .3rem .6rem }
        :focus-visible { outline: 3px solid currentColor; outline-offset: 2px }
        """
}
