import CCrypto

/// The EFF's long word list (Electronic Frontier Foundation, CC BY 3.0), in its own order.
enum WordList {
    static let count = CC_WORD_COUNT

    static func word(_ number: Int) -> String {
        String(cString: cc_word(Int32(number)))
    }
}
