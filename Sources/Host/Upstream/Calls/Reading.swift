import JSON
import Vault

extension NetworkAnswer {
    /// What the answer says, as the type that it should be.
    func read<Wanted: JSON.Readable>(
        _ type: Wanted.Type = Wanted.self,
        of call: Call
    ) throws(Setback) -> Wanted {
        let document: JSON.Document
        do throws(JSON.Failure) {
            document = try JSON.Document(body)
        } catch {
            throw call.malformed("\(error)")
        }
        do throws(JSON.Mismatch) {
            return try Wanted(json: document.root)
        } catch {
            throw call.malformed("\(error)")
        }
    }

    /// The cipher that the answer is.
    ///
    /// - Parameter id: Whose it has to be, if that is known.
    func cipher(_ id: String? = nil, of call: Call) throws(Setback) -> Cipher {
        let cipher: Cipher
        do throws(NotACipher) {
            cipher = try Cipher(body)
        } catch {
            throw call.malformed("\(error)")
        }
        guard let found = cipher.id, cipher.revisionDate != nil else {
            throw call.malformed("a cipher without id or revision")
        }
        guard id == nil || found.lowercased() == id?.lowercased() else {
            throw call.malformed("another cipher than was asked for")
        }
        return cipher
    }
}

extension Call {
    /// The setback of an answer that claims success and says nothing that can be understood. What was
    /// to be done may have been done.
    func malformed(_ text: String) -> Setback {
        Setback(.malformed(text), operation: operation.words, mayHaveLanded: isWrite)
    }
}
